import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cgroupPath } from '#agent/preflight/checks/cgroups.ts';
import { fieldOfFlag, parseFlags, withFlags } from '#agent/preflight/checks/flags.ts';
import { type Candidate, type HostFacts, NO_FACTS } from '#agent/preflight/host-facts.ts';
import { judgeOnHost } from '#agent/preflight/preflight.ts';
import { viewOf } from '#shared/contract/kubelet-config/view.ts';

type Fields = Readonly<Record<string, unknown>>;

const CONFIG = '/var/lib/kubelet/config.yaml';

function candidate(config: Fields, minor = 34, parts: Partial<Candidate> = {}): Candidate {
  return {
    view: viewOf(config, minor, 'replace'),
    assigned: config,
    configFile: CONFIG,
    configDirectory: undefined,
    asDropIn: false,
    ...parts,
  };
}

const found = (
  config: Fields,
  facts: Partial<HostFacts>,
  minor = 34,
  parts: Partial<Candidate> = {},
): readonly string[] =>
  judgeOnHost(candidate(config, minor, parts), { ...NO_FACTS, ...facts }).map(
    ({ severity, code, field }) => `${severity} ${code} ${field}`,
  );

const GIB = 2 ** 30;
const cpus = (count: number): ReadonlySet<number> => new Set(Array.from({ length: count }, (_, index) => index));
const args = (...flags: readonly string[]) => ({ kubeletArgs: [`--config=${CONFIG}`, ...flags] });

/** What is the matter; the config; the machine; what is found; the minor version where it is not 34. */
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
    { cgroups: new Map([['/sys', false]]) },
    ['error cgroup-missing systemReservedCgroup'],
  ],
  [
    'a cgroup that nobody enforces',
    { systemReservedCgroup: '/sys', kubeReservedCgroup: '/kube' },
    {
      cgroups: new Map([
        ['/sys', false],
        ['/kube', false],
      ]),
    },
    [],
  ],
  [
    'a root of cgroups that is not there',
    { cgroupRoot: '/k' },
    { cgroups: new Map([['/k', false]]) },
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
  [
    'no runtime',
    { containerRuntimeEndpoint: 'unix:///run/c.sock' },
    { paths: new Map([['/run/c.sock', 'missing']]) },
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
    ['error nothing-left evictionHard'],
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
  ['a flag for what is not assigned', { maxPods: 5 }, args('--node-ip=10.0.0.1', '--v=4'), []],
];

describe('preflight', () => {
  for (const [matter, config, facts, expected, minor] of rows) {
    it(`says of ${matter}: ${expected.join(', ') || 'nothing'}`, () => {
      assert.deepEqual(found(config, facts, minor), expected);
    });
  }

  it('looks at the drop-in directory where the config goes there', () => {
    const parts = { asDropIn: true, configDirectory: '/etc/kubernetes/kubelet.conf.d' };
    assert.deepEqual(found({}, { kubeletArgs: ['--config=/other'] }, 34, parts), ['error config-not-read kind']);
    assert.deepEqual(found({}, { kubeletArgs: ['--config-dir=/etc/kubernetes/kubelet.conf.d'] }, 34, parts), []);
  });

  it('says nothing of what it cannot see, and never breaks, whatever the config says', () => {
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('/x', '10.0.0.1', 0, -1, '5%', []));
    const configs = fc.dictionary(
      fc.constantFrom('maxPods', 'address', 'kubeReserved', 'evictionHard', 'reservedMemory', 'cgroupRoot', 'port'),
      values,
      { noNullPrototype: true },
    );
    fc.assert(fc.property(configs, (config) => assert.deepEqual(found(config, {}), [])));
    const facts = { memoryBytes: GIB, onlineCpus: cpus(1), runningPods: 3, numaNodes: new Set([0]), ...args('--x=') };
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
  });
});

describe('the directory of a cgroup', () => {
  it('follows the driver', () => {
    assert.equal(cgroupPath('/system', 'cgroupfs'), '/system');
    assert.equal(cgroupPath('/system.slice', 'systemd'), 'system.slice');
    assert.equal(cgroupPath('/a/foo-bar.slice', 'systemd'), 'foo.slice/foo-bar.slice');
    assert.equal(cgroupPath('system', 'systemd'), 'system.slice');
  });
});
