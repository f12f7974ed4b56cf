import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../support/property.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { validateForAnyVersion, validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { column, columns } from '../../../support/columns.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function judge(text: string, minor = '1.34', apply: ApplyMode = 'replace') {
  const { value, findings, positionOf } = decodeKubeletConfig(Buffer.from(HEADER + text), 'k.yaml');
  assert.deepEqual(findings, []);
  return validateKubeletConfig(value, { minor, apply, positionOf });
}

/** `code field`, with a `?` before warnings. */
const said = (text: string, minor?: string, apply?: ApplyMode): readonly string[] =>
  judge(text, minor, apply).map(({ code, field, severity }) => `${severity === 'warning' ? '?' : ''}${code} ${field}`);

describe('the structure of a config', () => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['says nothing about the header alone', '', '1.20', []],
    ['finds a field that no version has', 'maxPodz: 5', '1.34', ['unknown-field maxPodz']],
    ['finds a field in the wrong case', 'maxpods: 5', '1.34', ['wrong-case maxpods']],
    [
      'finds it in a struct too',
      'authentication: {webhook: {enable: true}}',
      '1.34',
      ['unknown-field authentication.webhook.enable'],
    ],
    [
      'finds it in a list of structs too',
      'registerWithTaints: [{key: a, efect: NoSchedule}]',
      '1.34',
      ['unknown-field registerWithTaints[0].efect'],
    ],
    ['finds text for a number', 'maxPods: "5"', '1.34', ['wrong-type maxPods']],
    ['finds a fraction for a whole number', 'maxPods: 1.5', '1.34', ['wrong-type maxPods']],
    ['finds a number for text', 'clusterDomain: 5', '1.34', ['wrong-type clusterDomain']],
    ['finds a number in a map of texts', 'kubeReserved: {cpu: 1}', '1.34', ['wrong-type kubeReserved.cpu']],
    ['finds text for a list', 'clusterDNS: 10.0.0.10', '1.34', ['wrong-type clusterDNS']],
    ['finds a list for a struct', 'logging: []', '1.34', ['wrong-type logging']],
    ['finds a number for a duration', 'syncFrequency: 10', '1.34', ['wrong-type syncFrequency']],
    ['finds null for a duration that cannot be null', 'syncFrequency: null', '1.34', ['wrong-type syncFrequency']],
    ['lets null pass for other fields', 'maxPods: null\nlogging: null\ncpuCFSQuotaPeriod: null', '1.34', []],
    ['finds numbers beyond 32 bits', 'port: 2147483648', '1.34', ['out-of-range port']],
    ['finds numbers beyond 64 bits', 'podPidsLimit: 9223372036854775808', '1.34', ['out-of-range podPidsLimit']],
    ['lets the largest number of 64 bits pass', 'podPidsLimit: 9223372036854775807', '1.34', []],
    ['finds a field that came later', 'podLogsDir: /var/log/pods', '1.29', ['unknown-field podLogsDir']],
    ['finds a field that went', 'logging: {sanitization: true}', '1.24', ['unknown-field logging.sanitization']],
    ['says one thing about a struct that came later', 'tracing: {endpoint: 5}', '1.24', ['unknown-field tracing']],
    [
      'finds all that is wrong at once',
      'maxPods: x\nport: -1\nmaxpods: 1',
      '1.34',
      ['wrong-case maxpods', 'wrong-type maxPods', 'out-of-range port'],
    ],
  ];
  for (const [name, text, minor, expected] of rows) {
    it(name, () => assert.deepEqual(said(text, minor).toSorted(), expected.toSorted()));
  }

  it('says where, and what to write instead', () => {
    const [finding] = judge('maxPodz: 5');
    assert.deepEqual(finding, {
      code: 'unknown-field',
      severity: 'error',
      message: 'no kubelet up to 1.37 knows maxPodz',
      suggestion: 'did you mean maxPods?',
      file: 'k.yaml',
      line: 3,
      column: 1,
      field: 'maxPodz',
      versions: ['1.34'],
    });
  });

  const advice: readonly (readonly [string, string])[] = [
    ['maxPods: "5"', 'write 5 without quotes'],
    ['clusterDomain: 5', 'write "5" in quotes'],
    ['clusterDNS: 10.0.0.10', 'write ["10.0.0.10"]'],
    ['syncFrequency: "10"', 'write "10s" if seconds are meant'],
    ['syncFrequency: 1d', 'write "24h"'],
    ['syncFrequency: 10S', 'write "10s"'],
    ['kubeReserved: {memory: 500MB}', 'write 500M'],
    ['kubeReserved: {memory: 1 Gi}', 'write 1Gi'],
    ['topologyManagerPolicy: Restricted', 'did you mean restricted?'],
    ['cacheTTL: 5m', 'it belongs to authentication.webhook'],
    ['featureGates: {NodeSwapp: true}', 'did you mean NodeSwap?'],
  ];
  for (const [text, suggestion] of advice)
    it(`advises on ${text}`, () => assert.equal(judge(text)[0]?.suggestion, suggestion));
});

describe('feature gates', () => {
  const rows: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['are fatal when no version knows them', 'Nope: true', '1.34', ['unknown-feature-gate featureGates.Nope']],
    ['are fatal before their time', 'NodeSwap: true', '1.20', ['unknown-feature-gate featureGates.NodeSwap']],
    [
      'are fatal after their time',
      'DynamicKubeletConfig: true',
      '1.26',
      ['unknown-feature-gate featureGates.DynamicKubeletConfig'],
    ],
    ['are fatal against their lock', 'NodeSwap: false', '1.34', ['locked-feature-gate featureGates.NodeSwap']],
    ['may be set to what they are locked to', 'NodeSwap: true', '1.34', []],
    ['count null as false', 'NodeSwap: null', '1.34', ['locked-feature-gate featureGates.NodeSwap']],
    ['take AllAlpha and AllBeta for gates', 'AllAlpha: true, AllBeta: false', '1.30', []],
    [
      'need what they rest on',
      'GracefulNodeShutdownBasedOnPodPriority: true, GracefulNodeShutdown: false',
      '1.35',
      // WindowsGracefulNodeShutdown is on by default, on Linux as well.
      ['gate-off featureGates.GracefulNodeShutdownBasedOnPodPriority', 'gate-off featureGates.GracefulNodeShutdown'],
    ],
    [
      'count where they are on by default, too',
      'MatchLabelKeysInPodTopologySpread: false',
      '1.35',
      ['gate-off featureGates.MatchLabelKeysInPodTopologySpread'],
    ],
    [
      'need it from 1.35 on only',
      'GracefulNodeShutdownBasedOnPodPriority: true, GracefulNodeShutdown: false',
      '1.34',
      [],
    ],
  ];
  for (const [name, gates, minor, expected] of rows) {
    it(name, () => assert.deepEqual(said(`featureGates: {${gates}}`, minor), expected));
  }
});

describe('an overlay', () => {
  it('takes fields back with null, durations too', () => {
    assert.deepEqual(said('syncFrequency: null\nevictionSoft: {memory.available: null}', '1.34', 'overlay'), []);
  });

  it('only warns where the node may have what is missing', () => {
    const soft = 'evictionSoft: {memory.available: 1Gi}';
    assert.deepEqual(said(soft), ['missing-partner evictionSoft["memory.available"]']);
    assert.deepEqual(said(soft, '1.34', 'overlay'), ['?missing-partner evictionSoft["memory.available"]']);
  });

  it('refuses what is wrong whatever the node has', () => {
    const text = 'imageGCLowThresholdPercent: 90\nimageGCHighThresholdPercent: 80\nmaxPods: -1';
    assert.deepEqual(said(text, '1.34', 'overlay'), ['out-of-range maxPods', 'conflict imageGCLowThresholdPercent']);
  });

  it('warns about parallel pulls, because the node has settled on pulling one by one', () => {
    assert.deepEqual(said('maxParallelImagePulls: 5', '1.34'), []);
    assert.deepEqual(said('maxParallelImagePulls: 5', '1.34', 'overlay'), ['?conflict maxParallelImagePulls']);
    assert.deepEqual(said('maxParallelImagePulls: 5\nserializeImagePulls: false', '1.34', 'overlay'), []);
  });

  it('cannot bring the default thresholds back', () => {
    assert.deepEqual(said('evictionHard: null', '1.34', 'overlay'), ['eviction-switched-off evictionHard']);
  });
});

describe('a config that only the node can refuse', () => {
  const rows = [
    'systemReserved: {cpu: 100m}\nsystemReservedCgroup: /no-such.slice\nenforceNodeAllocatable: [pods, system-reserved]',
    'failSwapOn: true',
    'reservedSystemCPUs: "0-4095"',
  ];
  for (const text of rows) {
    it(`is let through: ${text.split('\n').at(-1)}`, () => {
      for (const minor of ['1.20', '1.28', '1.36']) assert.deepEqual(said(text, minor), []);
    });
  }
});

describe('versions', () => {
  const validate = (text: string, minors: readonly string[]) =>
    validateForVersions({ ...decodeKubeletConfig(Buffer.from(HEADER + text)).value }, minors);

  it('are named where a finding holds for some of them', () => {
    const findings = validate('podLogsDir: /var/log/pods', ['1.34', '1.28', '1.29']);
    assert.deepEqual(columns(findings, 'code', 'versions'), [['unknown-field', ['1.28', '1.29']]]);
  });

  it('are left out where it holds for all', () => {
    const [finding] = validate('maxPods: -1', ['1.28', '1.34']);
    assert.equal(finding?.versions, undefined);
  });

  it('beyond the table are judged as the newest', () =>
    assert.deepEqual(column(validate('maxPods: -1', ['1.99']), 'code'), ['unknown-version', 'out-of-range']));

  it('before 1.20 are refused', () => {
    assert.deepEqual(column(validate('', ['1.19']), 'code'), ['unsupported-version']);
  });

  it('need not be known to find what is wrong for all', () => {
    const config = { maxPods: -1, podLogsDir: '/var/log/pods', syncFrequency: 'x' };
    assert.deepEqual(
      validateForAnyVersion(config)
        .map(({ field = '' }) => field)
        .toSorted(),
      ['maxPods', 'syncFrequency'],
    );
  });
});

describe('validation', () => {
  it('is total: any value gives findings, never an exception', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.bigInt());
    const anything = fc.oneof(
      leaf,
      fc.array(leaf),
      fc.dictionary(fc.string(), leaf),
      fc.array(fc.dictionary(fc.string(), leaf)),
    );
    const names = [
      'maxPods',
      'syncFrequency',
      'evictionHard',
      'featureGates',
      'reservedMemory',
      'logging',
      'enforceNodeAllocatable',
      'kubeReserved',
      'tracing',
    ];
    forAll(
      fc.dictionary(fc.constantFrom(...names), anything),
      fc.constantFrom('1.20', '1.28', '1.36'),
      (config, minor) => {
        assert.ok(Array.isArray(validateKubeletConfig(config, { minor })));
        assert.ok(Array.isArray(validateKubeletConfig(config, { minor, apply: 'overlay' })));
      },
    );
  });

  it('refuses what is no map', () => {
    for (const value of [undefined, null, 5, 'x', []])
      assert.equal(validateKubeletConfig(value, { minor: '1.34' }).length, 1);
  });
});
