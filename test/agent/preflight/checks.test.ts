import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { cgroupPath } from '#agent/preflight/checks/cgroups.ts';
import { parseFlags, withFlags } from '#agent/preflight/checks/flags.ts';
import type { Room } from '#agent/host/host-files.ts';
import type { ConfigForHost, HostFacts } from '#agent/preflight/host-facts.ts';
import { NO_FACTS } from '../../support/agent/no-facts.ts';
import { judgeOnHost } from '#agent/preflight/preflight.ts';
import { fieldOfFlag, flagOver } from '#shared/contract/kubelet-config/fields/flags.ts';
import { viewOf } from '#shared/contract/kubelet-config/view.ts';

type Fields = Readonly<Record<string, unknown>>;

const CONFIG = '/var/lib/kubelet/config.yaml';

function candidate(config: Fields, minor = 34, parts: Partial<ConfigForHost> = {}): ConfigForHost {
  return {
    view: viewOf(config, minor, 'replace'),
    fromFiles: config,
    assigned: config,
    configFile: CONFIG,
    configDirectory: undefined,
    version: `v1.${minor}.0`,
    asDropIn: false,
    ...parts,
  };
}

const found = (
  config: Fields,
  facts: Partial<HostFacts>,
  minor = 34,
  parts: Partial<ConfigForHost> = {},
): readonly string[] =>
  judgeOnHost(candidate(config, minor, parts), { ...NO_FACTS, ...facts }).map(
    ({ severity, code, field }) => `${severity} ${code} ${field}`,
  );

const GIB = 2 ** 30;
const cpus = (count: number): ReadonlySet<number> => new Set(Array.from({ length: count }, (_, index) => index));
const args = (...flags: readonly string[]) => ({ kubeletArgs: [`--config=${CONFIG}`, ...flags] });

/** The CPUs of the cores that CPU 0 and CPU 1 are of. */
const cores = (...lists: readonly string[]): ReadonlyMap<number, ReadonlySet<number>> =>
  new Map(lists.map((list, cpu) => [cpu, new Set(list.split(',').map(Number))] as const));
const HALVES: Fields = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0-1',
  cpuManagerPolicyOptions: { 'full-pcpus-only': 'true', 'distribute-cpus-across-numa': 'true' },
};

const MIB = 2 ** 20;
/** A file system of 10 GiB, empty but for what is said. */
const room = (left: Partial<Room> = {}): Room => ({
  bytes: 10 * GIB,
  availableBytes: 10 * GIB,
  inodes: 1_000,
  freeInodes: 1_000,
  ...left,
});
/** The same threshold, hard and soft. */
const thresholds = (signal: string, amount: string): Fields => ({
  evictionHard: { [signal]: amount },
  evictionSoft: { [signal]: amount },
  evictionSoftGracePeriod: { [signal]: '1m' },
});
const AT_ONCE = 'pressure-at-once';
const SLICE: Fields = {
  enforceNodeAllocatable: ['pods', 'system-reserved'],
  systemReservedCgroup: '/system.slice',
  systemReserved: { memory: '40Mi' },
};

/** What is the matter; the config; the machine; what is found; the minor version where it is not 34. */
const ENDPOINT = { containerRuntimeEndpoint: 'unix:///run/c.sock' };
const NO_SOCKET = { paths: new Map([['/run/c.sock', 'missing' as const]]) };

const rows: readonly (readonly [string, Fields, Partial<HostFacts>, readonly string[], number?])[] = [
  ['nothing', { maxPods: 110 }, {}, []],
  ['swap', {}, { swaps: ['/dev/sda2'] }, ['error swap-on failSwapOn']],
  ['swap that is allowed', { failSwapOn: false }, { swaps: ['/dev/sda2'] }, []],
  ['no swap', {}, { swaps: [] }, []],
  [
    'a kernel that is set up otherwise',
    { protectKernelDefaults: true },
    { sysctls: new Map([['vm.overcommit_memory', '0']]) },
    ['error kernel-defaults protectKernelDefaults'],
  ],
  ['a kernel that may be set up', {}, { sysctls: new Map([['vm.overcommit_memory', '0']]) }, []],
  ['cgroups of version 1, by default', {}, { cgroupVersion: 1 }, ['error cgroup-v1 failCgroupV1'], 35],
  ['cgroups of version 1, before', {}, { cgroupVersion: 1 }, []],
  [
    'a cgroup that is not there',
    { enforceNodeAllocatable: ['pods', 'system-reserved'], systemReservedCgroup: '/sys' },
    { cgroups: new Map([['systemReservedCgroup', false]]) },
    ['error cgroup-missing systemReservedCgroup'],
  ],
  [
    'a cgroup that nobody enforces',
    { systemReservedCgroup: '/sys', kubeReservedCgroup: '/kube' },
    {
      cgroups: new Map([
        ['systemReservedCgroup', false],
        ['kubeReservedCgroup', false],
      ]),
    },
    [],
  ],
  [
    'a root of cgroups that is not there',
    { cgroupRoot: '/k' },
    { cgroups: new Map([['cgroupRoot', false]]) },
    ['error cgroup-missing cgroupRoot'],
  ],
  [
    'a runtime of another driver',
    { cgroupDriver: 'systemd' },
    { runtimeDriver: { driver: 'cgroupfs', file: '/etc/containerd/config.toml' } },
    ['error cgroup-driver cgroupDriver'],
    27,
  ],
  [
    'a runtime that the kubelet may ask',
    { cgroupDriver: 'systemd' },
    { runtimeDriver: { driver: 'cgroupfs', file: '/etc/containerd/config.toml' } },
    ['warning cgroup-driver cgroupDriver'],
  ],
  ['no runtime', ENDPOINT, NO_SOCKET, ['error runtime-missing containerRuntimeEndpoint']],
  [
    'a runtime that the kubelet has already, and that is away',
    ENDPOINT,
    { ...NO_SOCKET, ownRuntimes: new Set([ENDPOINT.containerRuntimeEndpoint]) },
    ['error runtime-away containerRuntimeEndpoint'],
  ],
  [
    'no runtime where the kubelet has another',
    ENDPOINT,
    { ...NO_SOCKET, ownRuntimes: new Set(['unix:///run/other.sock', undefined]) },
    ['error runtime-missing containerRuntimeEndpoint'],
  ],
  [
    'files that are not there',
    { authentication: { x509: { clientCAFile: '/ca' } }, resolvConf: '/r', staticPodPath: '/pods' },
    {
      paths: new Map([
        ['/ca', 'missing'],
        ['/r', 'missing'],
        ['/pods', 'missing'],
      ]),
    },
    [
      'error path-missing authentication.x509.clientCAFile',
      'warning path-missing resolvConf',
      'warning path-missing staticPodPath',
    ],
  ],
  [
    'a directory in place of a file',
    { tlsCertFile: '/c', tlsPrivateKeyFile: '/k' },
    {
      paths: new Map([
        ['/c', 'directory'],
        ['/k', 'file'],
      ]),
    },
    ['error path-missing tlsCertFile'],
  ],
  [
    'more reserved than there is',
    { kubeReserved: { memory: '6Gi' }, systemReserved: { memory: '2Gi' }, evictionHard: { 'memory.available': '5%' } },
    { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
    ['error nothing-left kubeReserved'],
  ],
  [
    'a threshold that is crossed already',
    { evictionHard: { 'memory.available': '99%', 'nodefs.available': '6Gi' } },
    { memoryBytes: 8 * GIB, availableMemoryBytes: 7 * GIB, nodefs: room({ availableBytes: 5 * GIB }) },
    ['warning little-left evictionHard', 'error pressure-at-once evictionHard', 'error pressure-at-once evictionHard'],
  ],
  [
    'a usual threshold on a disk that is full',
    { evictionHard: { 'nodefs.available': '10%' } },
    { nodefs: room({ availableBytes: GIB / 2 }) },
    ['warning pressure-at-once evictionHard'],
  ],
  [
    'a threshold with as much as that available, and one that is switched off',
    { evictionHard: { 'memory.available': '6Gi', 'nodefs.available': '100%' } },
    { memoryBytes: 8 * GIB, availableMemoryBytes: 6 * GIB, nodefs: room({ availableBytes: 0 }) },
    [],
  ],
  [
    'a threshold that only the new config crosses',
    { evictionHard: { 'nodefs.available': '20%' } },
    { nodefs: room({ availableBytes: 1.5 * GIB }), present: { evictionHard: { 'nodefs.available': '10%' } } },
    [`error ${AT_ONCE} evictionHard`],
  ],
  [
    'a default threshold that only the new config crosses',
    {},
    { imagefs: room({ availableBytes: GIB }), present: { evictionHard: { 'imagefs.available': '5%' } } },
    [`error ${AT_ONCE} evictionHard`],
  ],
  [
    'a threshold that the present config crosses as well, be it as a soft one',
    { evictionHard: { 'nodefs.available': '90%' } },
    { nodefs: room({ availableBytes: 2 * GIB }), present: thresholds('nodefs.available', '30%') },
    [`warning ${AT_ONCE} evictionHard`],
  ],
  [
    'file systems that are nearly full beside thresholds of others',
    { evictionHard: { 'containerfs.available': '90%', 'nodefs.available': '5%' } },
    { nodefs: room({ availableBytes: GIB }), imagefs: room({ availableBytes: 1, freeInodes: 1 }), present: {} },
    [],
  ],
  [
    'a file system that does not count its inodes',
    { evictionHard: { 'nodefs.inodesFree': '100k' } },
    { nodefs: room({ inodes: 0, freeInodes: 0 }), present: {} },
    [],
  ],
  [
    'thresholds in whose place flags come',
    thresholds('nodefs.available', '90%'),
    { nodefs: room({ availableBytes: GIB }), ...args('--eviction-hard=memory.available<1Mi', '--eviction-soft=') },
    ['error flag-shadows evictionHard', 'error flag-shadows evictionSoft'],
  ],
  [
    'almost all reserved',
    { kubeReserved: { cpu: '3700m' } },
    { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
    ['warning little-left kubeReserved'],
  ],
  [
    'a sound reservation',
    { kubeReserved: { cpu: '100m', memory: '1Gi' } },
    { memoryBytes: 8 * GIB, onlineCpus: cpus(4) },
    [],
  ],
  [
    'thresholds that are switched off, and keep nothing back',
    { evictionHard: { 'memory.available': '100%', 'nodefs.available': '100%' } },
    { memoryBytes: 8 * GIB, nodefs: room() },
    [],
  ],
  [
    'CPUs by number in place of the shares',
    { reservedSystemCPUs: '0', kubeReserved: { cpu: '3' }, systemReserved: { cpu: '3' } },
    { onlineCpus: cpus(4) },
    [],
  ],
  [
    'all CPUs by number',
    { reservedSystemCPUs: '0-3' },
    { onlineCpus: cpus(4) },
    ['error nothing-left reservedSystemCPUs'],
  ],
  [
    'more storage reserved than there is',
    { kubeReserved: { 'ephemeral-storage': '9Gi' }, evictionHard: { 'nodefs.available': '15%' } },
    { nodefs: room() },
    ['error nothing-left kubeReserved'],
  ],
  [
    'storage that the kubelet does not look at',
    { kubeReserved: { 'ephemeral-storage': '90Gi' }, localStorageCapacityIsolation: false },
    { nodefs: room() },
    [],
  ],
  [
    'more process ids reserved than there are',
    { systemReserved: { pid: '40000' } },
    { mostPids: 32_768 },
    ['error nothing-left systemReserved'],
  ],
  [
    'static CPUs and none kept back',
    { cpuManagerPolicy: 'static' },
    args(),
    ['error no-reserved-cpu cpuManagerPolicy'],
  ],
  ['static CPUs and one kept back', { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } }, args(), []],
  ['static CPUs and one kept back by a flag', { cpuManagerPolicy: 'static' }, args('--kube-reserved=cpu=1'), []],
  ['static CPUs where flags are not seen', { cpuManagerPolicy: 'static' }, {}, []],
  [
    'static memory that is not what is kept back',
    { memoryManagerPolicy: 'Static', kubeReserved: { memory: '1Gi' }, reservedMemory: [{ limits: { memory: '1Gi' } }] },
    { memoryBytes: 8 * GIB, ...args() },
    ['error memory-not-equal reservedMemory'],
  ],
  [
    'static memory that is, over two NUMA nodes and with the default threshold',
    {
      memoryManagerPolicy: 'Static',
      kubeReserved: { memory: '1Gi' },
      reservedMemory: [{ limits: { memory: '1Gi' } }, { numaNode: 1, limits: { memory: '100Mi' } }],
    },
    { memoryBytes: 8 * GIB, ...args() },
    [],
  ],
  [
    'static memory by a share of the machine',
    {
      memoryManagerPolicy: 'Static',
      evictionHard: { 'memory.available': '50%' },
      reservedMemory: [{ limits: { memory: '4Gi' } }],
    },
    { memoryBytes: 8 * GIB, ...args() },
    [],
  ],
  [
    'static memory where a flag reserves',
    { memoryManagerPolicy: 'Static' },
    { memoryBytes: 8 * GIB, ...args('--reserved-memory=0:memory=100Mi') },
    [],
  ],
  [
    'static memory that no gate switches on',
    { memoryManagerPolicy: 'Static' },
    { memoryBytes: GIB, ...args() },
    [],
    21,
  ],
  [
    'CPUs that there are not',
    { reservedSystemCPUs: '0-1,9' },
    { onlineCpus: cpus(4) },
    ['error no-such-cpu reservedSystemCPUs'],
  ],
  [
    'a NUMA node that there is not',
    { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 1, limits: { memory: '1Gi' } }] },
    { numaNodes: new Set([0]) },
    ['error no-such-numa-node reservedMemory'],
  ],
  [
    'halves of cores that are reserved on a machine with three NUMA nodes',
    HALVES,
    { numaNodes: cpus(3), coreOf: cores('0,32', '1,33') },
    ['error known-bad cpuManagerPolicyOptions'],
  ],
  ['whole cores that are reserved', HALVES, { numaNodes: cpus(3), coreOf: cores('0,1', '0,1') }, []],
  ['halves of cores on two NUMA nodes', HALVES, { numaNodes: cpus(2), coreOf: cores('0,32', '1,33') }, []],
  ['cores that could not be seen', HALVES, { numaNodes: cpus(3) }, []],
  [
    'halves of cores, and a kubelet that was fixed',
    HALVES,
    { numaNodes: cpus(3), coreOf: cores('0,32', '1,33') },
    [],
    38,
  ],
  [
    'limits on a cgroup that nobody can be told to lift',
    { ...SLICE, systemReservedCgroup: '/reserved' },
    {},
    ['warning limit-stays systemReservedCgroup'],
  ],
  [
    'limits of hugepages, which systemd knows nothing of',
    { ...SLICE, systemReserved: { 'hugepages-2Mi': '4Mi' } },
    {},
    ['warning limit-stays systemReservedCgroup'],
  ],
  ['limits that can be lifted', SLICE, {}, []],
  ['fewer pods than run', { maxPods: 20 }, { runningPods: 21 }, ['error too-many-pods maxPods']],
  [
    'fewer pods by cores',
    { maxPods: 110, podsPerCore: 5 },
    { runningPods: 21, onlineCpus: cpus(4) },
    ['error too-many-pods podsPerCore'],
  ],
  ['as many pods as run', { maxPods: 20 }, { runningPods: 20 }, []],
  ['no health endpoint', { healthzPort: 0 }, {}, ['error health-unseen healthzPort']],
  ['no server', { enableServer: false }, {}, ['warning api-unseen enableServer']],
  [
    'no tokens',
    { authentication: { webhook: { enabled: false } } },
    {},
    ['warning api-unseen authentication.webhook.enabled'],
  ],
  ['a foreign address', { address: '10.9.9.9' }, { addresses: ['10.0.0.1'] }, ['error no-such-address address']],
  ['an address of its own', { address: '10.0.0.1', healthzBindAddress: '127.0.0.1' }, { addresses: ['10.0.0.1'] }, []],
  [
    'a port that is taken',
    { port: 9100 },
    { listening: new Set([9100, 10_250]), ownPorts: new Set([10_250]) },
    ['error port-taken port'],
  ],
  ['its own ports', {}, { listening: new Set([10_248, 10_250]), ownPorts: new Set([10_248, 10_250]) }, []],
  ['another file than ours', {}, { kubeletArgs: ['--config=/etc/kubelet.yaml'] }, ['error config-not-read kind']],
  ['a kubelet that lives on flags', {}, { kubeletArgs: ['--max-pods=5'] }, ['error config-not-read kind']],
  [
    'the same file by a link',
    {},
    { kubeletArgs: ['--config', '/etc/k'], realPaths: new Map([['/etc/k', CONFIG]]) },
    [],
  ],
  ['a flag that says otherwise', { maxPods: 250 }, args('--max-pods=110'), ['error flag-shadows maxPods']],
  [
    'a flag that says the same',
    { maxPods: 250, syncFrequency: '1m' },
    args('--max-pods', '250', '--sync-frequency=1m0s'),
    [],
  ],
  ['a flag of another name', { eventRecordQPS: 5 }, args('--event-qps=0'), ['error flag-shadows eventRecordQPS']],
  [
    'a flag for a key of a map',
    { kubeReserved: { cpu: '1', memory: '1Gi' } },
    args('--kube-reserved=cpu=500m'),
    ['error flag-shadows kubeReserved'],
  ],
  [
    'a flag that takes the place of a map with another key in it',
    { evictionHard: { 'nodefs.available': '15%' } },
    args('--eviction-hard=memory.available<200Mi'),
    ['error flag-shadows evictionHard'],
  ],
  ['a flag that has the keys of a map', { kubeReserved: { cpu: '1' } }, args('--kube-reserved=cpu=1,memory=1Gi'), []],
  [
    'a flag of feature gates, which are merged',
    { featureGates: { NodeSwap: true } },
    args('--feature-gates=GracefulNodeShutdown=true'),
    [],
  ],
  [
    'a reserved cgroup that uses more than its limit would be',
    SLICE,
    { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB + 1 }]]) },
    ['error cgroup-too-small systemReserved'],
  ],
  [
    'a reserved cgroup that uses as much',
    SLICE,
    { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB, pids: 500 }]]) },
    [],
  ],
  [
    'a reserved cgroup with more processes than it may have',
    { ...SLICE, systemReserved: { pid: '100' } },
    { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB, pids: 101 }]]) },
    ['error cgroup-too-small systemReserved'],
  ],
  [
    'a reserved cgroup that is only named',
    { ...SLICE, enforceNodeAllocatable: ['pods', 'system-reserved-compressible'] },
    { cgroupUse: new Map([['systemReservedCgroup', { bytes: 80 * MIB }]]) },
    [],
  ],
  [
    'a drop-in of somebody else, by the kubelet’s flag',
    { maxPods: 90 },
    { dropIns: [{ path: '/etc/k/50-them.conf', fields: { maxPods: 33 } }] },
    ['error drop-in-shadows maxPods'],
  ],
  [
    'a drop-in of somebody else that says the same, or something else',
    { maxPods: 90 },
    { dropIns: [{ path: '/etc/k/50-them.conf', fields: { maxPods: 90, podPidsLimit: 5 } }] },
    [],
  ],
  ['a flag for what is not assigned', { maxPods: 5 }, args('--node-ip=10.0.0.1', '--v=4'), []],
];

describe('preflight', () => {
  for (const [matter, config, facts, expected, minor] of rows) {
    it(`says of ${matter}: ${expected.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(found(config, facts, minor), expected);
    });
  }

  it('says how much is asked for and how much there is', () => {
    const config = { evictionHard: { 'memory.available': '99%' } };
    const facts = { ...NO_FACTS, memoryBytes: 1000 * 2 ** 20, availableMemoryBytes: 600 * 2 ** 20 };
    const messages = judgeOnHost(candidate(config), facts).map(({ message }) => message);
    assert.ok(
      messages.includes(
        'memory.available is to be at least 990Mi, and 600Mi of 1000Mi are available now: pods would be evicted at once',
      ),
      messages.join(),
    );
  });

  const signals: readonly (readonly [string, (left: number) => Partial<HostFacts>])[] = [
    ['memory.available', (left) => ({ memoryBytes: 1_000, availableMemoryBytes: left })],
    ['pid.available', (left) => ({ mostPids: 1_000, pids: 1_000 - left })],
    ['nodefs.available', (left) => ({ nodefs: room({ bytes: 1_000, availableBytes: left }) })],
    ['nodefs.inodesFree', (left) => ({ nodefs: room({ freeInodes: left }) })],
    ['imagefs.available', (left) => ({ imagefs: room({ bytes: 1_000, availableBytes: left }) })],
    ['imagefs.inodesFree', (left) => ({ imagefs: room({ freeInodes: left }) })],
  ];
  for (const [signal, leaves] of signals) {
    for (const field of ['evictionHard', 'evictionSoft']) {
      it(`compares ${field} of ${signal} with what is left, in bytes or counts and in percent`, () => {
        for (const amount of ['300', '30%']) {
          const config = { evictionHard: {}, [field]: { [signal]: amount } };
          const said = (left: number, now: Fields = { evictionHard: {} }) =>
            found(config, { ...leaves(left), present: now });
          assert.deepEqual(said(299), [`error ${AT_ONCE} ${field}`]);
          assert.deepEqual(said(300), []);
          assert.deepEqual(said(299, config), [`warning ${AT_ONCE} ${field}`]);
          assert.deepEqual(
            found(config, { ...leaves(299) }),
            [`warning ${AT_ONCE} ${field}`],
            'nobody knows of before',
          );
        }
      });
    }
  }

  it('counts inodes and processes, and says what a soft threshold does', () => {
    const config = { evictionSoft: { 'nodefs.inodesFree': '50%', 'pid.available': '9' } };
    const facts = { ...NO_FACTS, nodefs: room({ freeInodes: 400 }), mostPids: 10, pids: 8 };
    assert.deepEqual(
      judgeOnHost(candidate(config), facts).map(({ message }) => message),
      [
        'pid.available is to be at least 9, and 2 of 10 are available now: pods would be evicted after its grace period',
        'nodefs.inodesFree is to be at least 500, and 400 of 1000 are available now: pods would be evicted after its grace period',
      ],
    );
  });

  it('looks at the drop-in directory where the config goes there', () => {
    const parts = { asDropIn: true, configDirectory: '/etc/kubernetes/kubelet.conf.d' };
    assert.deepEqual(found({}, { kubeletArgs: ['--config=/other'] }, 34, parts), ['error config-not-read kind']);
    assert.deepEqual(found({}, { kubeletArgs: ['--config-dir=/etc/kubernetes/kubelet.conf.d'] }, 34, parts), []);
  });

  it('takes a runtime that the assignment does not name for one that the kubelet has already', () => {
    assert.deepEqual(found(ENDPOINT, NO_SOCKET, 34, { assigned: {} }), ['error runtime-away containerRuntimeEndpoint']);
  });

  it('names the file that wins, the last of those that set the field', () => {
    const dropIns = ['10-a', '50-b', '60-c'].map((name, index) => ({
      path: `/etc/k/${name}.conf`,
      fields: index === 2 ? { podPidsLimit: 5 } : { maxPods: 33 },
    }));
    const [finding] = judgeOnHost(candidate({ maxPods: 90 }), { ...NO_FACTS, dropIns });
    assert.equal(finding?.message, '/etc/k/50-b.conf wins: the kubelet would run maxPods=33 instead of 90');
  });

  it('says which fields another drop-in would win over', () => {
    const parts = { asDropIn: true, configDirectory: '/etc/kubernetes/kubelet.conf.d' };
    const assigned = { maxPods: 250, nodeStatusUpdateFrequency: '60s', evictionHard: { 'memory.available': '1Gi' } };
    const shadowed = (over: Fields) => found(assigned, {}, 34, { ...parts, fromFiles: { ...assigned, ...over } });
    assert.deepEqual(shadowed({ podPidsLimit: 5 }), []);
    assert.deepEqual(shadowed({ nodeStatusUpdateFrequency: '1m' }), []);
    assert.deepEqual(shadowed({ maxPods: 110 }), ['error drop-in-shadows maxPods']);
    const eviction = { 'memory.available': '100Mi', 'nodefs.available': '5%' };
    assert.deepEqual(shadowed({ evictionHard: eviction }), ['error drop-in-shadows evictionHard']);
  });

  it('says nothing of what it cannot see, and never breaks, whatever the config says', () => {
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('/x', '10.0.0.1', 0, -1, '5%', []));
    const configs = fc.dictionary(
      fc.constantFrom('maxPods', 'address', 'kubeReserved', 'evictionHard', 'reservedMemory', 'cgroupRoot', 'port'),
      values,
      { noNullPrototype: true },
    );
    fc.assert(fc.property(configs, (config) => assert.deepEqual(found(config, {}), [])));
    const facts = {
      memoryBytes: GIB,
      availableMemoryBytes: 0,
      onlineCpus: cpus(1),
      runningPods: 3,
      numaNodes: new Set([0]),
      ...args('--x='),
    };
    fc.assert(fc.property(configs, (config) => void found(config, facts)));
  });
});

describe('the kubelet’s flags', () => {
  it('are read as Go reads them', () => {
    assert.deepEqual(parseFlags(['--a=b=c', '-v', '2', '--flag', '--x', 'y', 'z']), [
      ['a', 'b=c'],
      ['v', '2'],
      ['flag', 'true'],
      ['x', 'y'],
    ]);
  });

  it('win over the config', () => {
    const flags = ['--fail-swap-on=false', '--healthz-port=0', '--client-ca-file=/ca', '--max-pods=many'];
    assert.deepEqual(withFlags({ failSwapOn: true, maxPods: 5 }, flags), {
      failSwapOn: false,
      maxPods: 5,
      healthzPort: 0,
      authentication: { x509: { clientCAFile: '/ca' } },
    });
  });

  it('have the names of their fields, or others', () => {
    const names = {
      'max-pods': 'maxPods',
      'kube-api-qps': 'kubeAPIQPS',
      'cluster-dns': 'clusterDNS',
      v: 'logging.verbosity',
    };
    for (const [flag, field] of Object.entries(names)) assert.equal(fieldOfFlag(flag), field);
    assert.equal(fieldOfFlag('node-ip'), undefined);
    assert.equal(fieldOfFlag('max_pods'), 'maxPods');
    assert.equal(flagOver('evictionHard.memory.available'), '--eviction-hard');
    assert.equal(flagOver('memorySwap.swapBehavior'), undefined);
  });
});

describe('the directory of a cgroup', () => {
  const rows = [
    ['systemReservedCgroup', '/system', 'cgroupfs', '/system'],
    ['systemReservedCgroup', '/system.slice', 'systemd', 'system.slice'],
    ['kubeReservedCgroup', '/a/foo-bar.slice', 'systemd', 'foo.slice/foo-bar.slice'],
    ['kubeReservedCgroup', 'system', 'systemd', 'system.slice'],
    ['cgroupRoot', '/a/b', 'cgroupfs', '/a/b'],
    ['cgroupRoot', '/a/b', 'systemd', 'a.slice/a-b.slice'],
    ['cgroupRoot', '/kube-pods', 'systemd', 'kube_pods.slice'],
    ['cgroupRoot', '/a.slice', 'systemd', 'a.slice.slice'],
  ] as const;
  for (const [field, name, driver, path] of rows) {
    it(`of ${field}: ${name} is ${path} to ${driver}`, () => assert.equal(cgroupPath(field, name, driver), path));
  }
});
