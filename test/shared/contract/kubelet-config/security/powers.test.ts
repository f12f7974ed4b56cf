import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gateNames } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { DENIED_BY_DEFAULT, isPolicyField } from '#shared/contract/kubelet-config/field-policy.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { weakeningGates } from '#shared/contract/kubelet-config/security/gates.ts';
import { ownsNode, POWERS, powerOf } from '#shared/contract/kubelet-config/security/powers.ts';
import { WEAKENING } from '#shared/contract/kubelet-config/security/weakening.ts';
import { weakenedBy } from '#shared/contract/kubelet-config/security/weakened.ts';

const weakened = (config: Readonly<Record<string, unknown>>): readonly string[] =>
  weakenedBy(config).map(({ path }) => path.join('.'));

describe('what a field gives to whoever chooses its value', () => {
  it('is said of every field, once, and of nothing else', () => {
    assert.deepEqual(
      [...FIELDS.keys()].filter((field) => powerOf(field.replaceAll('[]', '')) === undefined),
      [],
    );
    const named = POWERS.flatMap(({ fields }) => fields);
    assert.deepEqual(
      named.filter((field) => !isPolicyField(field)),
      [],
    );
    assert.equal(new Set(named).size, named.length);
  });

  it('is the reason for what is denied by default: exactly the fields that own a node', () => {
    const owning = POWERS.filter(ownsNode).flatMap(({ fields }) => fields);
    assert.deepEqual([...owning].sort(), Object.keys(DENIED_BY_DEFAULT).sort());
  });

  it('has only gates that there are', () => {
    assert.deepEqual(
      weakeningGates().filter(([gate]) => !gateNames().includes(gate)),
      [],
    );
  });
});

/** Values that the rule of a field has to find, and values that it has to let pass. */
const ROWS: readonly (readonly [field: string, weak: readonly unknown[], fine: readonly unknown[]])[] = [
  [
    'clusterDNS',
    [['203.0.113.66'], ['10.0.0.10', '8.8.8.8'], ['2001:db8::1'], ['100.128.0.1'], ['172.32.0.1'], null],
    [['10.96.0.10'], ['169.254.20.10', '192.168.0.10'], ['fd00::a'], ['172.16.0.10'], ['100.64.0.10'], ['dns'], []],
  ],
  [
    'resolvConf',
    ['/tmp/resolv.conf', '/etc/../tmp/x', '/var/lib/kubelet/pods/x', null],
    ['', '/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'],
  ],
  ['allowedUnsafeSysctls', [['net.*'], null], [[]]],
  ['defaultPodSysctls', [{ 'net.ipv4.ip_unprivileged_port_start': '0' }], [{}, null]],
  ['protectKernelDefaults', [false, null], [true]],
  ['seccompDefault', [false, null], [true]],
  ['makeIPTablesUtilChains', [false, null], [true]],
  ['podPidsLimit', [-1, 0, null], [1, 4096]],
  ['tlsMinVersion', ['VersionTLS10', 'VersionTLS11', null], ['VersionTLS12', 'VersionTLS13']],
  [
    'tlsCipherSuites',
    [['TLS_RSA_WITH_3DES_EDE_CBC_SHA'], ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_RC4_128_SHA'], null],
    [['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_RSA_WITH_AES_256_GCM_SHA384']],
  ],
  ['streamingConnectionIdleTimeout', ['0s', '0', 0, '0.0h'], ['5m', '10s', null]],
  ['imagePullCredentialsVerificationPolicy', ['NeverVerify'], ['AlwaysVerify', 'NeverVerifyPreloadedImages', null]],
  ['preloadedImagesVerificationAllowlist', [['registry.example.com/*']], [[], null]],
];

describe('a config that takes a protection away', () => {
  for (const [field, weak, fine] of ROWS) {
    it(`is found by ${field}`, () => {
      for (const value of weak) assert.deepEqual(weakened({ [field]: value }), [field], JSON.stringify(value));
      for (const value of fine) assert.deepEqual(weakened({ [field]: value }), [], JSON.stringify(value));
    });
  }

  it('is found in structs', () => {
    assert.deepEqual(weakened({ tracing: { endpoint: '203.0.113.66:4317' } }), ['tracing.endpoint']);
    assert.deepEqual(weakened({ tracing: { endpoint: 'localhost.evil.example:4317' } }), ['tracing.endpoint']);
    assert.deepEqual(weakened({ tracing: { endpoint: 'localhost:4317', samplingRatePerMillion: 1 } }), []);
    assert.deepEqual(weakened({ logging: { verbosity: 8 } }), ['logging.verbosity']);
    assert.deepEqual(weakened({ logging: { verbosity: 4, vmodule: [{ filePattern: 'a', verbosity: 9 }] } }), [
      'logging.vmodule',
    ]);
  });

  it('is found gate by gate, in the one direction that weakens', () => {
    assert.deepEqual(weakened({ featureGates: { AppArmor: false, AllAlpha: true, NodeSwap: true } }), [
      'featureGates.AppArmor',
      'featureGates.AllAlpha',
    ]);
    assert.deepEqual(weakened({ featureGates: { AppArmor: true, AllAlpha: false, constructor: true } }), []);
  });

  it('is not found where a field is left to the node, nor in what nobody wrote', () => {
    assert.deepEqual(weakened({}), []);
    assert.deepEqual(weakened({ featureGates: null, tracing: null, logging: 'x', maxPods: 0 }), []);
  });

  it('is covered by rows for every rule', () => {
    const tested = new Set([
      ...ROWS.map(([field]) => field),
      'tracing.endpoint',
      'logging.verbosity',
      'logging.vmodule',
      'featureGates',
    ]);
    assert.deepEqual(
      Object.keys(WEAKENING).filter((field) => !tested.has(field)),
      [],
    );
  });
});
