import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import { nodeSpecsOf, isSameSpec } from '#reconciler/policy/rollout/node-spec.ts';
import { DEFAULT_TRIAL, type KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  validPool,
} from '../../../support/fleet.ts';

const SOURCE = { namespace: 'n', name: 'workers-1', uid: 'u', resourceVersion: '7', key: 'kubelet', sha256: 's' };
const SPEC: KubeletNodeSpec = {
  pool: 'workers',
  commit: 'c',
  configSource: SOURCE,
  apply: 'overlay',
  trial: DEFAULT_TRIAL,
  drift: 'repair',
  allowFields: ['a', 'b'],
  tolerate: ['unknown-field'],
};
const { apply: _a, trial: _t, drift: _d, ...short } = SPEC;

describe('two assignments', () => {
  const rows: readonly (readonly [string, Partial<KubeletNodeSpec>, boolean])[] = [
    ['that are the same', {}, true],
    ['of different commits', { commit: 'other' }, true],
    ['of different versions of one ConfigMap', { configSource: { ...SOURCE, resourceVersion: '8' } }, true],
    ['of ConfigMaps of different names', { configSource: { ...SOURCE, name: 'workers-2' } }, false],
    ['of a ConfigMap made again', { configSource: { ...SOURCE, uid: 'other' } }, false],
    ['of different bytes', { configSource: { ...SOURCE, sha256: 'other' } }, false],
    ['of different pools', { pool: 'other' }, false],
    ['laid over in different ways', { apply: 'replace' }, false],
    ['that keep other fields', { keepFields: ['port'] }, false],
    ['of which one does not say that it keeps none', { apply: 'replace', keepFields: [] }, false],
    ['with different words on drift', { drift: 'report' }, false],
    ['with trials of different lengths', { trial: { ...DEFAULT_TRIAL, duration: '1m' } }, false],
    ['with different times to start', { trial: { ...DEFAULT_TRIAL, startTimeout: '1m' } }, false],
    ['with different restarts', { trial: { ...DEFAULT_TRIAL, maxRestarts: 9 } }, false],
    ['with one field more', { allowFields: ['a', 'b', 'c'] }, false],
    ['with one field fewer', { allowFields: ['a'] }, false],
    ['with another field', { allowFields: ['a', 'c'] }, false],
    ['with nothing tolerated', { tolerate: [] }, false],
  ];
  for (const [what, part, same] of rows) {
    it(`${what} say ${same ? 'the same' : 'something else'}`, () => {
      assert.equal(isSameSpec(SPEC, { ...SPEC, ...part }), same);
      assert.equal(isSameSpec({ ...SPEC, ...part }, SPEC), same);
    });
  }

  it('say the same where one leaves out what the other says as is usual', () => {
    assert.equal(isSameSpec(short, SPEC), true);
    assert.equal(isSameSpec(SPEC, short), true);
    const { allowFields: _f, tolerate: _o, ...shorter } = short;
    assert.equal(isSameSpec(shorter, { ...shorter, allowFields: [], tolerate: [] }), true);
    assert.equal(isSameSpec(shorter, short), false);
  });

  it('say something else where only one has a config', () => {
    const { configSource: _c, ...none } = SPEC;
    assert.equal(isSameSpec(none, SPEC), false);
    assert.equal(isSameSpec(SPEC, none), false);
    assert.equal(isSameSpec(none, none), true);
  });
});

describe('what a node is told', () => {
  const pool = validPool('workers', 110);
  const former = validPool('workers', 100);
  const told = (
    spec: Parameters<typeof validPool>[2] = {},
    sources = [configSource(pool)],
    aims: Parameters<typeof nodeSpecsOf>[3] = [],
  ) => {
    const fleet = fleetOf({ configSources: sources, pools: [poolInCluster(pool)] });
    const desired = desiredState(commit(COMMIT_B, validPool('workers', 110, spec)), fleet, () => []);
    return nodeSpecsOf(desired.pools.get('workers') ?? null, fleet, 'ours', aims);
  };
  const plain = {
    pool: 'workers',
    commit: COMMIT_B,
    configSource: {
      namespace: 'ours',
      name: pool.configName,
      uid: `cm-${pool.configName}`,
      resourceVersion: '1',
      key: 'kubelet',
      sha256: pool.sha256,
    },
    apply: 'overlay',
    trial: DEFAULT_TRIAL,
  };

  it('leaves out what is usual', () => {
    assert.deepEqual(told()(pool.configName), plain);
    assert.deepEqual(told({ allowFields: [], tolerate: [], drift: 'repair' })(pool.configName), plain);
  });

  it('has what is not', () => {
    const more = { drift: 'report', allowFields: ['port'], tolerate: ['wrong-case'] } as const;
    assert.deepEqual(told(more)(pool.configName), { ...plain, ...more });
    const kept = { apply: 'replace', keepFields: ['address', 'port'] } as const;
    assert.deepEqual(told(kept)(pool.configName), { ...plain, ...kept });
    assert.deepEqual(told({ apply: 'replace' })(pool.configName), { ...plain, apply: 'replace', keepFields: [] });
  });

  it('is of the payload and of what its nodes are to run, and of nothing else', () => {
    const view = nodeView('a', 'workers');
    const member = memberOf(view, undefined, { sha256: former.sha256, apply: 'overlay' }, 0, NOW);
    const both = told({}, [configSource(pool), configSource(former)], [{ member, configName: former.configName }]);
    assert.equal(both(pool.configName)?.configSource?.sha256, pool.sha256);
    assert.equal(both(former.configName)?.configSource?.sha256, former.sha256);
    assert.equal(told({}, [configSource(pool), configSource(former)])(former.configName), undefined);
  });

  it('is nothing while the cluster does not have it, or has something else under its name', () => {
    assert.equal(told({}, [])(pool.configName), undefined);
    assert.equal(told({}, [configSource(pool, { sha256: 'forged' })])(pool.configName), undefined);
  });

  it('is nothing without a pool', () => {
    assert.equal(
      nodeSpecsOf(null, fleetOf({ configSources: [configSource(pool)] }), 'ours')(pool.configName),
      undefined,
    );
  });
});
