import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contradictions, resets } from '#shared/contract/kubelet-config/configz-compare.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';

type Json = Readonly<Record<string, unknown>>;
type Row = readonly [title: string, payload: Json, running: Json, differences: readonly string[]];

const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

const rows: readonly Row[] = [
  ['nothing set, nothing to contradict', { ...TYPE }, { maxPods: 110 }, []],
  ['what runs is what was meant', { ...TYPE, maxPods: 250 }, { maxPods: 250 }, []],
  ['another number', { maxPods: 250 }, { maxPods: 110 }, ['maxPods=110 instead of 250']],
  [
    'fields that hold credentials, without them',
    { staticPodURLHeader: { Authorization: ['a'] }, staticPodURL: 'https://example.org/' },
    { staticPodURLHeader: { Authorization: ['b'] }, staticPodURL: 'https://user:b@example.org/' },
    [
      'staticPodURLHeader["Authorization"]=[redacted] instead of [redacted]',
      'staticPodURL="https://[redacted]@example.org/" instead of "https://example.org/"',
    ],
  ],
  ['a field that the kubelet does not know', { podsLimit: 3 }, {}, ['podsLimit=nothing instead of 3']],
  [
    'a duration in other words',
    { syncFrequency: '10m', nodeStatusUpdateFrequency: '90s' },
    { syncFrequency: '10m0s', nodeStatusUpdateFrequency: '1m30s' },
    [],
  ],
  [
    'amounts in other words, in fields that are texts',
    {
      kubeReserved: { cpu: '100m', memory: '1Gi' },
      evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%' },
      evictionSoftGracePeriod: { 'memory.available': '90s' },
      containerLogMaxSize: '10Mi',
    },
    {
      kubeReserved: { cpu: '0.1', memory: '1024Mi' },
      evictionHard: { 'memory.available': '1048576Ki', 'nodefs.available': '10%' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s' },
      containerLogMaxSize: '10240Ki',
    },
    [],
  ],
  [
    'other amounts in such fields, and texts that only look like amounts',
    { systemReserved: { memory: '1G' }, evictionSoft: { 'memory.available': '10%' }, clusterDomain: '1m' },
    { systemReserved: { memory: '1Gi' }, evictionSoft: { 'memory.available': '11%' }, clusterDomain: '1m0s' },
    [
      'systemReserved["memory"]="1Gi" instead of "1G"',
      'evictionSoft["memory.available"]="11%" instead of "10%"',
      'clusterDomain="1m0s" instead of "1m"',
    ],
  ],
  ['another duration', { syncFrequency: '10m' }, { syncFrequency: '1m0s' }, ['syncFrequency="1m0s" instead of "10m"']],
  ['a flush frequency in nanoseconds', { logging: { flushFrequency: '5s' } }, { logging: { flushFrequency: 5e9 } }, []],
  [
    'an instruction that was carried out when the file was written',
    { mergeDefaultEvictionSettings: true, evictionHard: { 'memory.available': '1Gi' } },
    { mergeDefaultEvictionSettings: false, evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%' } },
    [],
  ],
  [
    'a reservation or a threshold in other words',
    { kubeReserved: { cpu: '740m', memory: '1024Mi' }, evictionHard: { 'memory.available': '0.5Gi' } },
    { kubeReserved: { cpu: '0.74', memory: '1Gi' }, evictionHard: { 'memory.available': '512Mi' } },
    [],
  ],
  [
    'a reservation that is off by a unit, and one that is no amount',
    { systemReserved: { cpu: '741m', memory: '1025Mi', pid: 'x' }, evictionHard: { 'nodefs.available': '10%' } },
    { systemReserved: { cpu: '0.74', memory: '1Gi', pid: 'y' }, evictionHard: { 'nodefs.available': '11%' } },
    [
      'systemReserved["cpu"]="0.74" instead of "741m"',
      'systemReserved["memory"]="1Gi" instead of "1025Mi"',
      'systemReserved["pid"]="y" instead of "x"',
      'evictionHard["nodefs.available"]="11%" instead of "10%"',
    ],
  ],
  [
    'a field taken back',
    { maxPods: null, evictionHard: null },
    { maxPods: 110, evictionHard: { 'memory.available': '100Mi' } },
    [],
  ],
  [
    'zero where the kubelet fills in its default',
    { maxPods: 0, syncFrequency: '0s', clusterDomain: '' },
    { maxPods: 110, syncFrequency: '1m0s', clusterDomain: 'x' },
    [],
  ],
  [
    'zero in a pointer is a value',
    { podPidsLimit: 0, registryPullQPS: 0 },
    { podPidsLimit: -1, registryPullQPS: 5 },
    ['podPidsLimit=-1 instead of 0', 'registryPullQPS=5 instead of 0'],
  ],
  [
    'zero in a pointer that runs as zero',
    { registryPullQPS: 0, failSwapOn: false },
    { registryPullQPS: 0, failSwapOn: false },
    [],
  ],
  [
    'false in a pointer that runs as true',
    { failSwapOn: false },
    { failSwapOn: true },
    ['failSwapOn=true instead of false'],
  ],
  [
    'false without a default that runs as true: a flag',
    { serverTLSBootstrap: false },
    { serverTLSBootstrap: true },
    ['serverTLSBootstrap=true instead of false'],
  ],
  ['zero that the kubelet leaves out', { podCIDR: '', serverTLSBootstrap: false, tlsCipherSuites: [] }, {}, []],
  [
    'one signal of a map, among others',
    { evictionHard: { 'memory.available': '200Mi' } },
    { evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '10%' } },
    [],
  ],
  [
    'another value in a map',
    { evictionHard: { 'memory.available': '200Mi' } },
    { evictionHard: { 'memory.available': '100Mi' } },
    ['evictionHard["memory.available"]="100Mi" instead of "200Mi"'],
  ],
  [
    'a key that is missing from a map',
    { kubeReserved: { cpu: '100m' } },
    {},
    ['kubeReserved["cpu"]=nothing instead of "100m"'],
  ],
  ['a key of a map that is taken back', { kubeReserved: { cpu: null } }, { kubeReserved: { cpu: '1' } }, []],
  ['a gate that is off and not shown', { featureGates: { NodeSwap: false } }, {}, []],
  [
    'a gate that a flag turns on',
    { featureGates: { NodeSwap: false } },
    { featureGates: { NodeSwap: true } },
    ['featureGates["NodeSwap"]=true instead of false'],
  ],
  [
    'nested structs',
    { authentication: { anonymous: { enabled: false }, webhook: { cacheTTL: '2m' } } },
    { authentication: { anonymous: { enabled: true }, webhook: { cacheTTL: '2m0s' } } },
    ['authentication.anonymous.enabled=true instead of false'],
  ],
  [
    'lists whole and in order',
    { clusterDNS: ['10.0.0.10', '10.0.0.11'] },
    { clusterDNS: ['10.0.0.11', '10.0.0.10'] },
    ['clusterDNS=["10.0.0.11","10.0.0.10"] instead of ["10.0.0.10","10.0.0.11"]'],
  ],
  [
    'lists of structs with what the kubelet writes in its own way',
    { reservedMemory: [{ numaNode: 0, limits: { memory: '1024Mi' } }] },
    { reservedMemory: [{ limits: { memory: '1Gi' } }] },
    [],
  ],
  ['a quantity in other words', { containerLogMaxSize: '10Mi' }, { containerLogMaxSize: '10Mi' }, []],
  [
    'a relative path',
    { staticPodPath: 'manifests', resolvConf: './resolv.conf' },
    { staticPodPath: '/var/lib/kubelet/manifests', resolvConf: '/var/lib/kubelet/resolv.conf' },
    [],
  ],
  [
    'a path below, above and beside the config file, as the kubelet cleans it',
    { staticPodPath: './a/../b//c/', volumePluginDir: '../x', tlsCertFile: 'unix:///run/x', resolvConf: '0' },
    {
      staticPodPath: '/etc/kubelet/b/c',
      volumePluginDir: '/etc/x',
      tlsCertFile: '/etc/kubelet/unix:/run/x',
      resolvConf: '/etc/kubelet/0',
    },
    [],
  ],
  [
    'a path that leads elsewhere',
    { staticPodPath: 'a/b' },
    { staticPodPath: '/etc/kubelet/a' },
    ['staticPodPath="/etc/kubelet/a" instead of "a/b"'],
  ],
  [
    'null in a list, which is an item without a value',
    {
      clusterDNS: [null, ''],
      tlsCurvePreferences: [29, null],
      reservedMemory: [null],
      staticPodURLHeader: { A: [null] },
    },
    {
      clusterDNS: ['', ''],
      tlsCurvePreferences: [29, 0],
      reservedMemory: [{ numaNode: 0, limits: null }],
      staticPodURLHeader: { A: [''] },
    },
    [],
  ],
  [
    'null in a list where there is something',
    { clusterDNS: [null] },
    { clusterDNS: ['10.0.0.10'] },
    ['clusterDNS=["10.0.0.10"] instead of [null]'],
  ],
  [
    'amounts with spaces around them, and less than a thousandth',
    { reservedMemory: [{ limits: { memory: ' 1Gi', 'hugepages-2Mi': 1.5, 'hugepages-1Gi': '1u' } }] },
    { reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-2Mi': '1500m', 'hugepages-1Gi': '1m' } }] },
    [],
  ],
  [
    'an amount that is another',
    { reservedMemory: [{ limits: { memory: '1Gi' } }] },
    { reservedMemory: [{ numaNode: 0, limits: { memory: '1025Mi' } }] },
    ['reservedMemory=[{"numaNode":0,"limits":{"memory":"1025Mi"}}] instead of [{"limits":{"memory":"1Gi"}}]'],
  ],
  ['any negative limit of PIDs', { podPidsLimit: -5 }, { podPidsLimit: -1 }, []],
  ['a negative limit of 64 bits', { podPidsLimit: -9223372036854775808n }, { podPidsLimit: -1 }, []],
  [
    'what only flags can set',
    { logging: { options: { json: { splitStream: true } } } },
    { logging: { options: { json: { splitStream: false } } } },
    [],
  ],
  [
    'big numbers',
    { maxOpenFiles: 9007199254740993n },
    { maxOpenFiles: 1_000_000 },
    ['maxOpenFiles=1000000 instead of 9007199254740993'],
  ],
];

describe('the running config compared with a payload', () => {
  for (const [title, payload, running, differences] of rows) {
    it(title, () => {
      assert.deepEqual(contradictions(payload, running), differences);
    });
  }

  it('says nothing of fields that this kubelet’s version drops', () => {
    const payload = { maxPods: 5, crashLoopBackOff: { maxContainerRestartPeriod: '1m' } };
    assert.deepEqual(contradictions(payload, { maxPods: 5 }, 'v1.31.2'), []);
    assert.equal(contradictions(payload, { maxPods: 5 }, 'v1.32.0').length, 1);
    assert.equal(contradictions(payload, { maxPods: 5 }).length, 1);
  });

  it('says nothing of an empty text where this kubelet’s version takes it for unset', () => {
    const [payload, running] = [{ resolvConf: '' }, { resolvConf: '/etc/resolv.conf' }];
    assert.deepEqual(contradictions(payload, running, 'v1.22.17'), []);
    assert.equal(contradictions(payload, running, 'v1.23.1').length, 1);
    assert.equal(contradictions({ resolvConf: '/x' }, running, 'v1.22.17').length, 1);
  });

  it('knows every field that is a path to be one', () => {
    const asTheyAre = ['cgroupRoot', 'kubeletCgroups', 'systemCgroups', 'kubeReservedCgroup', 'systemReservedCgroup'];
    const isPath = /(path|file|dir|conf|root|cgroups?)$/i;
    const paths = [...FIELDS].flatMap(([path, { kind }]) => (kind === 'string' && isPath.test(path) ? [path] : []));
    assert.ok(paths.length >= 10);
    for (const path of paths) {
      const configOf = (value: string): Json =>
        path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Json;
      const isJoined = contradictions(configOf('some/where'), configOf('/var/lib/kubelet/some/where')).length === 0;
      assert.equal(isJoined, !asTheyAre.includes(path), path);
    }
  });

  it('shortens what would fill a screen', () => {
    const [difference = ''] = contradictions({ clusterDomain: 'a'.repeat(500) }, { clusterDomain: 'b' });
    assert.ok(difference.length < 130 && difference.endsWith('...'));
  });
});

describe('fields of the node’s own that went back to their defaults', () => {
  const running = { maxPods: 110, cgroupDriver: 'cgroupfs', authentication: { webhook: { cacheTTL: '2m0s' } } };
  for (const [what, whole, payload, found] of [
    ['are told of', { maxPods: 42 }, {}, ['maxPods=110 instead of 42']],
    [
      'are told of below structs',
      { authentication: { webhook: { cacheTTL: '5s' } } },
      {},
      ['authentication.webhook.cacheTTL="2m0s" instead of "5s"'],
    ],
    ['are none where the config names them itself', { maxPods: 42 }, { maxPods: 42 }, []],
    [
      'are none where the default was meant',
      { maxPods: 110, authentication: { webhook: { cacheTTL: '120s' } } },
      {},
      [],
    ],
    ['are none where something else runs', { syncFrequency: '5s', podPidsLimit: 9 }, {}, []],
    ['are none where the runtime may have said it', { cgroupDriver: 'systemd' }, {}, []],
  ] as const) {
    it(what, () => assert.deepEqual(resets(whole, payload, { ...running, podPidsLimit: 7 }, 'v1.34.2'), found));
  }
});
