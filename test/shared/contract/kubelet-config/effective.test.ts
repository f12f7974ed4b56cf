import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllOf } from '../../../support/property.ts';
import { overlayOnLocal } from '#shared/contract/kubelet-config/effective.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * The kubelet's own steps, after `loadConfigFile`, `mergeKubeletConfigurations` and `SetDefaults_KubeletConfiguration`:
 * a file gets its defaults, and its thresholds when it is loaded; a drop-in is merged on the result, which gets its
 * defaults once more, but no thresholds.
 */
function withDefaults(config: Config, minor: number): Config {
  const view = viewOf(config, minor, 'replace');
  const result: Record<string, unknown> = { ...config };
  for (const [path, field] of FIELDS) {
    if (path.includes('.') || field.kind === 'struct' || path === 'evictionHard' || !existsIn(field, minor)) continue;
    if (field.gate === undefined || view.gate(field.gate)) result[path] ??= defaultOf(field, minor);
  }
  const backOff = { maxContainerRestartPeriod: '5m' };
  if (minor >= 32 && view.gate('KubeletCrashLoopBackOffMax')) result['crashLoopBackOff'] ??= backOff;
  if (config['serializeImagePulls'] === undefined) {
    result['serializeImagePulls'] = !(minor >= 27 && Number(config['maxParallelImagePulls'] ?? 0) >= 2);
  }
  const update = config['nodeStatusUpdateFrequency'];
  if (config['nodeStatusReportFrequency'] === undefined && update !== undefined)
    result['nodeStatusReportFrequency'] = update;
  return result;
}

function loaded(file: Config, minor: number): Config {
  const result = { ...withDefaults(file, minor) } as Record<string, unknown>;
  const thresholds = defaultOf(FIELDS.get('evictionHard') ?? { kind: 'string-map' }, minor) as Config;
  const own = file['evictionHard'] as Config | undefined;
  const fillsUp = minor >= 33 && file['mergeDefaultEvictionSettings'] === true;
  result['evictionHard'] = own === undefined ? thresholds : fillsUp ? { ...thresholds, ...own } : own;
  // How the thresholds came about shows in the running config and has no effect any more.
  delete result['mergeDefaultEvictionSettings'];
  return result;
}

function withDropIn(local: Config, payload: Config, minor: number): Config {
  const merged = mergePatch(loaded(local, minor), payload) as Config;
  const result: Record<string, unknown> = {
    ...withDefaults(merged, minor),
    evictionHard: merged['evictionHard'] ?? {},
  };
  delete result['mergeDefaultEvictionSettings'];
  return result;
}

const orUnset = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const thresholds = fc.dictionary(
  fc.constantFrom('memory.available', 'nodefs.available', 'pid.available'),
  fc.constantFrom('1Gi', '5%'),
);
const gates = fc.dictionary(
  fc.constantFrom('KubeletCrashLoopBackOffMax', 'KubeletEnsureSecretPulledImages'),
  fc.boolean(),
);
const values = {
  maxPods: fc.integer({ min: 1, max: 500 }),
  evictionHard: thresholds,
  kubeReserved: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2')),
  serializeImagePulls: fc.boolean(),
  maxParallelImagePulls: fc.integer({ min: 1, max: 5 }),
  nodeStatusUpdateFrequency: fc.constantFrom('5s', '20s'),
  nodeStatusReportFrequency: fc.constantFrom('1m', '10m'),
  clusterDNS: fc.constantFrom(['10.0.0.10'], ['10.0.0.11']),
  featureGates: gates,
  mergeDefaultEvictionSettings: fc.boolean(),
};
const config = (nullable: boolean): fc.Arbitrary<Config> =>
  fc
    .record(
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => [
          key,
          orUnset(
            nullable
              ? fc.oneof({ weight: 4, arbitrary: value as fc.Arbitrary<unknown> }, fc.constant(null))
              : (value as fc.Arbitrary<unknown>),
          ),
        ]),
      ),
    )
    .map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)));

describe('an overlay installed as a file', () => {
  it('means what it means as a drop-in', () => {
    forAllOf(500, config(false), config(true), fc.constantFrom(28, 30, 33, 34, 35, 36), (local, payload, minor) => {
      const file = overlayOnLocal(local, payload, `1.${minor}`);
      assert.deepEqual(loaded(file, minor), withDropIn(local, payload, minor));
    });
  });

  const rows: readonly (readonly [string, Config, Config, string, Config])[] = [
    ['leaves the local config alone where it says nothing', { maxPods: 5 }, {}, '1.34', { maxPods: 5 }],
    ['sets what it says', { maxPods: 5 }, { maxPods: 6, clusterDNS: ['a'] }, '1.34', { maxPods: 6, clusterDNS: ['a'] }],
    ['takes back what it nulls', { maxPods: 5 }, { maxPods: null }, '1.34', {}],
    [
      'keeps the default thresholds beside its own',
      {},
      { evictionHard: { 'memory.available': '1Gi' } },
      '1.24',
      {
        evictionHard: {
          'memory.available': '1Gi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
          'imagefs.available': '15%',
        },
      },
    ],
    [
      'keeps the local thresholds beside its own',
      { evictionHard: { 'nodefs.available': '3%' } },
      { evictionHard: { 'memory.available': '1Gi' } },
      '1.34',
      { evictionHard: { 'nodefs.available': '3%', 'memory.available': '1Gi' } },
    ],
    [
      'switches all thresholds off with null, as a drop-in does',
      {},
      { evictionHard: null },
      '1.34',
      { evictionHard: {} },
    ],
    [
      'keeps pulls in a row unless it says otherwise',
      {},
      { maxParallelImagePulls: 5 },
      '1.34',
      { maxParallelImagePulls: 5, serializeImagePulls: true },
    ],
    [
      'keeps the pace of reports when it changes that of updates',
      {},
      { nodeStatusUpdateFrequency: '20s' },
      '1.34',
      { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '5m' },
    ],
    [
      'takes the zeros that kubeadm writes for the defaults',
      { nodeStatusUpdateFrequency: '0s', nodeStatusReportFrequency: '0s' },
      { nodeStatusUpdateFrequency: '20s' },
      '1.34',
      { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '5m' },
    ],
  ];
  for (const [name, local, payload, minor, expected] of rows) {
    it(name, () => assert.deepEqual(overlayOnLocal(local, payload, minor), expected));
  }

  it('changes neither of the two', () => {
    const local = { evictionHard: { a: '1' }, logging: { format: 'text' } };
    const payload = { evictionHard: { b: '2' }, logging: { format: 'json' } };
    const before = structuredClone([local, payload]);
    overlayOnLocal(local, payload, '1.34');
    assert.deepEqual([local, payload], before);
  });
});
