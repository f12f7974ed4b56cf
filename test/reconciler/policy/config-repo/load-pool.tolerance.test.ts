import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { LoadedPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { CLUSTER, KUBELET, load as loadTree, pool, POOL } from './support/load.ts';

const load = (layer: string, inPool = '', inCluster = 'kubeletVersions: ["1.34"]'): LoadedPool =>
  pool(
    loadTree({
      'clusters/prod.yaml': `${CLUSTER}  ${inCluster}\n`,
      'pools/x/pool.yaml': `${POOL}  ${inPool}\n`,
      'pools/x/kubelet.yaml': `${KUBELET}${layer}`,
    }),
    'x',
  );

const said = ({ findings }: LoadedPool): readonly string[] =>
  findings.map(({ severity, code }) => `${severity} ${code}`);
const payloadOf = (of: LoadedPool): unknown => (of.status === 'valid' ? of.payload : said(of));

describe('what a pool tolerates', () => {
  const slips: readonly (readonly [code: string, layer: string])[] = [
    ['unknown-field', 'maxPods: 5\nmaxPodz: 6\n'],
    ['unknown-field', 'maxPods: 5\nlogging: {verbositi: 3}\n'],
    ['wrong-case', 'maxPods: 5\nmaxpods: 6\n'],
    ['duplicate-key', 'maxPods: 4\nmaxPods: 5\n'],
  ];
  for (const [code, layer] of slips) {
    it(`refuses ${code} unless it is told that somebody knows: ${JSON.stringify(layer)}`, () => {
      const strict = load(layer);
      assert.deepEqual([strict.status, said(strict)], ['invalid', [`error ${code}`]]);
      const lenient = load(layer, `tolerate: [${code}]`);
      assert.deepEqual([lenient.status, said(lenient)], ['valid', [`warning ${code}`]]);
    });
  }

  it('never sends what every kubelet would drop, so that fixing the slip restarts nothing', () => {
    const clean = payloadOf(load('maxPods: 5\nreservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]\n'));
    const slipped = load(
      'maxPods: 5\nMaxPods: 6\nnonsense: {deep: [1]}\nreservedMemory: [{numaNode: 0, numanode: 1, limits: {memory: 1Gi}}]\n',
      'tolerate: [unknown-field, wrong-case]',
    );
    assert.equal(payloadOf(slipped), clean);
  });

  it('sends what only some kubelets know, for them, and tells the others to live with it', () => {
    const layer = 'crashLoopBackOff: {maxContainerRestartPeriod: 60s}\nfeatureGates: {}\n';
    const versions = 'kubeletVersions: ["1.30"]';
    assert.deepEqual(said(load(layer, '', versions)), ['error unknown-field']);
    const loaded = load(layer, 'tolerate: [unknown-field]', versions);
    assert.deepEqual(said(loaded), ['warning unknown-field']);
    assert.match(String(payloadOf(loaded)), /maxContainerRestartPeriod/);
    assert.ok(loaded.status === 'valid');
    assert.deepEqual(loaded.spec.tolerate, ['unknown-field']);
    assert.deepEqual(
      judgePool(loaded, ['1.29']).map(({ severity }) => severity),
      ['warning'],
    );
  });

  const versions: readonly (readonly [string, readonly number[], boolean])[] = [
    ['is not sent what none of them knows', [30, NEWEST_MINOR], false],
    ['is sent what a newer one may know', [30, NEWEST_MINOR + 1], true],
  ];
  for (const [name, minors, isSent] of versions) {
    it(`${name}: kubelets of ${minors.map((minor) => `1.${minor}`).join(' and ')}`, () => {
      const listed = `kubeletVersions: [${minors.map((minor) => `"1.${minor}"`).join(', ')}]`;
      assert.equal(
        /nonsense/.test(String(payloadOf(load('nonsense: 1\n', 'tolerate: [unknown-field]', listed)))),
        isSent,
      );
    });
  }

  it('is sent as it was written where nothing is tolerated', () => {
    assert.match(String(payloadOf(load('maxPods: 5\n'))), /"maxPods": 5/);
  });

  it('counts the cluster’s word for every pool', () => {
    const loaded = load('maxpods: 6\nmaxPodz: 6\n', 'tolerate: [wrong-case]', 'tolerate: [unknown-field]');
    assert.deepEqual(said(loaded), ['warning wrong-case', 'warning unknown-field']);
    assert.deepEqual(loaded.status === 'valid' && loaded.spec.tolerate, ['unknown-field', 'wrong-case']);
    const other = load('maxPods: 6\n', 'tolerate: [unknown-field]', 'tolerate: [wrong-case]');
    assert.deepEqual(other.status === 'valid' && other.spec.tolerate, ['unknown-field', 'wrong-case']);
  });

  it('tolerates nothing that keeps a kubelet from starting, and no slip in files of ours', () => {
    for (const code of ['wrong-type', 'out-of-range', 'unknown-fields', 'all']) {
      assert.deepEqual(said(load('maxPods: 5\n', `tolerate: [${code}]`)), ['error unknown-value']);
    }
    assert.deepEqual(said(load('maxPods: ten\n', 'tolerate: [unknown-field]')), ['error wrong-type']);
    assert.deepEqual(said(load('', 'tolerate: unknown-field')), ['error wrong-type']);
    assert.ok(said(load('', 'tolerate: [unknown-field]\n  piority: 1')).includes('error unknown-field'));
  });

  it('takes no tolerance from a cluster file with an error in it', () => {
    const loaded = load('maxPodz: 6\n', '', 'tolerate: [unknown-field]\n  maxUnassing: 1');
    assert.deepEqual(said(loaded), ['error unknown-field']);
  });

  it('cannot overlook a misspelt null, which takes nothing back', () => {
    const strict = load('maxPodz: null\nauthentication: {webhook: {cacheTtl: null}}\n');
    assert.deepEqual(said(strict), ['error unknown-field', 'error wrong-case']);
    assert.deepEqual(
      payloadOf(load('maxPodz: null\nmaxPods: null\n', 'tolerate: [unknown-field]')),
      payloadOf(load('maxPods: null\n')),
    );
  });
});
