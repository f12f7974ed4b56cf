import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFault, checkKnownBad, KNOWN_BAD, type KnownBad } from '#shared/contract/kubelet-config/known-bad.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { column } from '../../../support/columns.ts';

type Fields = Readonly<Record<string, unknown>>;

const PULLS: Fields = { serializeImagePulls: false, maxParallelImagePulls: 32 };
const CPUS = (options: Fields, reserved = '0,16'): Fields => ({
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: reserved,
  cpuManagerPolicyOptions: options,
  featureGates: { CPUManagerPolicyAlphaOptions: true },
});
const HANGING: Fields = { 'full-pcpus-only': 'true', 'distribute-cpus-across-numa': 'true' };
const gate = (name: string, on = true): Fields => ({ featureGates: { [name]: on } });

/** What is the matter; the config; the kubelet; what is found, by its severity. */
const rows: readonly (readonly [string, Fields, string, readonly string[]])[] = [
  ['more pulls than locks', PULLS, 'v1.36.3', ['error maxParallelImagePulls']],
  ['more pulls than locks, where only the minor is known', PULLS, '1.35', ['error maxParallelImagePulls']],
  ['more pulls than locks, by a vendor’s release', PULLS, 'v1.36.3-gke.1234', ['error maxParallelImagePulls']],
  ['as many pulls as locks', { ...PULLS, maxParallelImagePulls: 31 }, 'v1.36.3', []],
  ['more pulls than locks on a kubelet that was fixed', PULLS, 'v1.37.0', []],
  ['more pulls, and no credentials to verify yet', PULLS, 'v1.34.4', []],
  [
    'more pulls, and credentials that a gate verifies',
    { ...PULLS, ...gate('KubeletEnsureSecretPulledImages') },
    'v1.34.4',
    ['error maxParallelImagePulls'],
  ],
  [
    'more pulls, and no credentials verified any more',
    { ...PULLS, ...gate('KubeletEnsureSecretPulledImages', false) },
    'v1.36.3',
    [],
  ],
  ['both options of the CPU manager', CPUS(HANGING), 'v1.37.2', ['warning cpuManagerPolicyOptions']],
  ['both options, fixed', CPUS(HANGING), 'v1.38.0', []],
  ['both options and one CPU', CPUS(HANGING, '0'), 'v1.37.2', []],
  ['both options, one switched off', CPUS({ ...HANGING, 'full-pcpus-only': 'false' }), 'v1.37.2', []],
  [
    'static pods beside declared features',
    gate('NodeDeclaredFeatures'),
    'v1.35.1',
    ['warning featureGates.NodeDeclaredFeatures'],
  ],
  ['declared features, fixed', gate('NodeDeclaredFeatures'), 'v1.36.0', []],
  ['events of the runtime', gate('EventedPLEG'), 'v1.29.4', ['warning featureGates.EventedPLEG']],
  ['events of the runtime by AllAlpha', gate('AllAlpha'), 'v1.26.4', ['warning featureGates.EventedPLEG']],
  ['events of the runtime, fixed', gate('EventedPLEG'), 'v1.30.0', []],
];

describe('configs that a kubelet takes, and dies of later', () => {
  for (const [what, config, minor, expected] of rows) {
    it(`${what} (${minor})`, () => {
      const found = validateKubeletConfig(config, { minor }).filter(({ code }) => code === 'known-bad');
      assert.deepEqual(
        found.map(({ severity, field }) => `${severity} ${field}`),
        expected,
      );
    });
  }

  it('name the pull request and the release that fixed it', () => {
    const [found] = validateKubeletConfig(PULLS, { minor: 'v1.36.3' });
    assert.match(found?.message ?? '', /panics when it pulls images.*kubernetes#138937, fixed in 1\.37\.0/);
  });

  it('are nothing that the kubelet objects to', () => {
    const findings = validateKubeletConfig(PULLS, { minor: '1.36' });
    assert.equal(findings.length, 1);
    assert.equal(configVerdict(findings, '1.36'), 'accept');
  });

  it('are only warned of where the node’s own config may switch off what they need', () => {
    const known = validateKubeletConfig(PULLS, { minor: '1.36', apply: 'overlay' }).filter(
      ({ code }) => code === 'known-bad',
    );
    assert.deepEqual(column(known, 'severity'), ['warning']);
  });
});

describe('a fault that was fixed in some releases of a minor', () => {
  const row: KnownBad = {
    source: 1,
    from: 30,
    fixed: ['1.33.0', '1.32.4', '1.31.7'],
    field: 'maxPods',
    severity: 'error',
    effect: 'panics',
    suggestion: 'none',
    restsOn: [],
    isIn: () => true,
  };
  const versions: readonly (readonly [string, 'yes' | 'some' | 'no'])[] = [
    ['v1.29.9', 'no'],
    ['v1.30.0', 'yes'],
    ['1.30', 'yes'],
    ['v1.31.6', 'yes'],
    ['v1.31.7', 'no'],
    ['v1.31.10', 'no'],
    ['1.31', 'some'],
    ['v1.32.3-eks-1a2b3c4', 'yes'],
    ['v1.32.4+k3s1', 'no'],
    ['1.33', 'no'],
    ['v1.34.0', 'no'],
    ['v1.100.0', 'no'],
    ['latest', 'no'],
  ];
  for (const [version, expected] of versions) {
    it(`${version}: ${expected}`, () => assert.equal(hasFault(row, version), expected));
  }

  it('is only warned of where the release is not known', () => {
    const view = viewOf({}, 31, 'replace');
    const severities = ['1.31', 'v1.31.6', 'v1.31.7'].map((version) =>
      [...checkKnownBad(view, version, [row])].map(({ severity }) => severity),
    );
    assert.deepEqual(severities, [['warning'], ['error'], []]);
  });
});

describe('the table of known faults', () => {
  it('has a source, versions and advice in each row', () => {
    for (const { source, from, fixed, effect, suggestion } of KNOWN_BAD) {
      assert.ok(source > 100_000 && effect !== '' && suggestion !== '', `${source}`);
      for (const release of fixed) {
        assert.match(release, /^1\.\d+\.\d+$/);
        assert.ok(Number(release.split('.')[1]) >= from, release);
      }
    }
  });
});
