import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareConfigs, type Config } from '#cli/diff/compare.ts';

const side = (value: Config | null, apply: 'overlay' | 'replace' = 'overlay') => ({
  name: 'c',
  sha256: '',
  apply,
  value,
});

describe('what differs between settled, wanted and running', () => {
  it('is each field with its values, maps by key and lists whole', () => {
    const settled = side({ kind: 'X', maxPods: 114, evictionHard: { 'memory.available': '1Gi' }, clusterDNS: ['a'] });
    const wanted = side({
      kind: 'Y',
      maxPods: 120,
      evictionHard: { 'memory.available': '1Gi' },
      clusterDNS: ['a', 'b'],
    });
    assert.deepEqual(compareConfigs(settled, wanted, undefined), [
      { field: 'clusterDNS', settled: '["a"]', wanted: '["a","b"]' },
      { field: 'maxPods', settled: '114', wanted: '120' },
    ]);
    assert.deepEqual(compareConfigs(settled, settled, undefined), []);
  });

  it('is what the node had of its own before, as not set', () => {
    assert.deepEqual(compareConfigs(side(null), side({ maxPods: 1 }), undefined), [
      { field: 'maxPods', settled: null, wanted: '1' },
    ]);
  });

  it('is that a config is applied in another way', () => {
    assert.deepEqual(compareConfigs(side({}), side({}, 'replace'), undefined), [
      { field: 'apply', settled: 'overlay', wanted: 'replace' },
    ]);
  });

  const wanted = { maxPods: 120, syncFrequency: '10m', featureGates: { A: true } };
  const rows: readonly (readonly [string, Config, readonly unknown[]])[] = [
    ['runs the same, as a kubelet writes it', { ...wanted, syncFrequency: '10m0s' }, []],
    [
      'runs another value',
      { ...wanted, maxPods: 33 },
      [{ field: 'maxPods', settled: '120', wanted: '120', runs: '33' }],
    ],
    [
      'does not run a key of a map',
      { ...wanted, featureGates: {} },
      [{ field: 'featureGates.A', settled: 'true', wanted: 'true', runs: null }],
    ],
  ];
  for (const [name, running, expected] of rows) {
    it(`is shown where the kubelet ${name}`, () => {
      assert.deepEqual(compareConfigs(side(wanted), side(wanted), running, 'v1.34.2'), expected);
    });
  }

  it('shows what runs as the config writes it that means the same', () => {
    const [settled, next] = [side({ syncFrequency: '10m' }), side({ syncFrequency: '5m' })];
    assert.deepEqual(compareConfigs(settled, next, { syncFrequency: '10m0s' }), [
      { field: 'syncFrequency', settled: '"10m"', wanted: '"5m"', runs: '"10m"' },
    ]);
  });

  it('shows no credential', () => {
    const secret = side({ staticPodURLHeader: { Authorization: ['Bearer abc'] } });
    assert.doesNotMatch(JSON.stringify(compareConfigs(side(null), secret, secret.value ?? {})), /abc/);
  });
});
