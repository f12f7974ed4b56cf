import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { about, holdsOf, ON_WORKERS, rollout, settledFleet, statusOf, told } from './support/settled-fleet.ts';

describe('a pool that is renamed', () => {
  it('tells its nodes the new name and restarts none: the payload is the same', () => {
    const [old, renamed] = [validPool('workers', 110), validPool('servers', 110, ON_WORKERS)];
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, old);
    fleet.inForce = commit(COMMIT_B, renamed);
    fleet.reconcile();
    const { steps } = fleet.reconcile();
    assert.deepEqual(
      [about(steps, 'amend').length, about(steps, 'assign').length, about(steps, 'unassign').length],
      [2, 0, 0],
    );
    for (let round = 0; round < 3; round += 1) fleet.reconcile();
    assert.deepEqual([...fleet.fleet.pools.keys()], ['servers'], 'nobody remembers the old one');
    assert.ok(fleet.fleet.configSources.has(old.configName), 'nodes say that they run it');
  });
});

describe('two pools that swap nodes', () => {
  it('change them within the budget of the pool that each goes to, and settle', () => {
    const [one, two] = [validPool('one', 110), validPool('two', 120)];
    const fleet = settledFleet({ a: 'one', b: 'one', c: 'two', d: 'two' }, one, two);
    const { oid, repo } = commit(COMMIT_A, one, two);
    // By their labels, all of them: more than maxUnassign lets go without a word.
    fleet.inForce = { oid, repo: { ...repo, cluster: { ...repo.cluster, maxUnassign: '100%' } } };
    for (const [name, pool] of Object.entries({ a: 'two', b: 'two', c: 'one', d: 'one' }))
      fleet.addNode(nodeView(name, pool));
    assert.deepEqual(
      about(fleet.reconcile().steps, 'assign').map((step) => 'because' in step && step.because),
      ['its turn has come', 'its turn has come'],
      'one of each',
    );
    fleet.rounds(12);
    assert.deepEqual(told(fleet), { a: two.configName, b: two.configName, c: one.configName, d: one.configName });
    assert.deepEqual([statusOf(fleet, 'one')?.phase, statusOf(fleet, 'two')?.phase], ['Settled', 'Settled']);
  });
});

describe('a node that two pools of one priority select', () => {
  it('is let have its pods back when that comes in the middle of its drain, and keeps its config', () => {
    const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
    const old = validPool('workers', 110, drains);
    const fleet = settledFleet({ n1: 'workers' }, old);
    const next = validPool('workers', 110, drains, { topologyManagerScope: 'pod' });
    fleet.inForce = commit(COMMIT_B, next);
    fleet.reconcile();
    fleet.reconcile();
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, true);
    fleet.inForce = commit(COMMIT_B, next, validPool('rival', 50, ON_WORKERS));
    fleet.reconcile();
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, false);
    fleet.rounds(3);
    assert.deepEqual(told(fleet), { n1: old.configName });
  });
});

describe('a pool that leaves git', () => {
  it('while it is halted gives its nodes their local config back, the failed one included, and is gone', () => {
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 110));
    const bad = validPool('workers', 666);
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_B, bad);
    fleet.rounds(6);
    assert.equal(statusOf(fleet)?.phase, 'Halted');
    fleet.inForce = commit(COMMIT_A, validPool('other', 1));
    fleet.rounds(12);
    assert.deepEqual(told(fleet), { n1: 'local', n2: 'local' });
    assert.deepEqual([...fleet.fleet.pools.keys()], ['other']);
  });
});

describe('a pool that leaves git in the middle of a drain', () => {
  for (const [name, isForgotten] of [
    ['', false],
    [', and the cluster as well,', true],
  ] as const) {
    it(`${name} lets pods back on and gives its nodes their local config`.trim(), () => {
      const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
      const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, validPool('workers', 110, drains));
      fleet.inForce = commit(COMMIT_B, validPool('workers', 110, drains, { topologyManagerScope: 'pod' }));
      fleet.reconcile();
      fleet.reconcile();
      assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, true);
      fleet.inForce = commit(COMMIT_A, validPool('other', 1));
      if (isForgotten) fleet.fleet = { ...fleet.fleet, pools: new Map() };
      fleet.rounds(6);
      assert.deepEqual([told(fleet), fleet.fleet.nodes.get('n1')?.cordoned], [{ n1: 'local', n2: 'local' }, false]);
    });
  }
});

describe('a pool that is suspended in the middle of a drain', () => {
  it('lets pods back on, and drains again when it is resumed', () => {
    const drains = { disruption: { allow: ['restart', 'drain'], drainTimeout: '10m' } } as const;
    const fleet = settledFleet({ n1: 'workers' }, validPool('workers', 110, drains));
    fleet.inForce = commit(COMMIT_B, validPool('workers', 110, drains, { topologyManagerScope: 'pod' }));
    fleet.reconcile();
    fleet.reconcile();
    fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: '' });
    assert.equal(about(fleet.reconcile().steps, 'uncordon').length, 1);
    assert.deepEqual(
      [fleet.fleet.nodes.get('n1')?.cordoned, fleet.fleet.nodes.get('n1')?.drainFailed],
      [false, undefined],
    );
    assert.deepEqual(about(fleet.reconcile().steps, 'cordon'), []);
    fleet.annotatePool('workers', { [SUSPEND_ANNOTATION]: undefined });
    assert.equal(about(fleet.reconcile().steps, 'cordon').length, 1);
  });
});

describe('a revert', () => {
  it('to a config whose ConfigMap somebody deleted changes nothing, and says what to do', () => {
    const revert = rollout({ onFailure: { threshold: 1, action: 'revert' } });
    const old = validPool('workers', 110, revert);
    const fleet = settledFleet({ n1: 'workers', n2: 'workers' }, old);
    const bad = validPool('workers', 666, revert);
    fleet.deadly.add(bad.sha256);
    fleet.inForce = commit(COMMIT_B, bad);
    fleet.reconcile();
    const sources = new Map(fleet.fleet.configSources);
    sources.delete(old.configName);
    fleet.fleet = { ...fleet.fleet, configSources: sources };
    fleet.rounds(8);
    assert.equal(statusOf(fleet)?.phase, 'Halted');
    assert.deepEqual(told(fleet), { n1: bad.configName, n2: old.configName });
    assert.match(
      holdsOf(fleet).join(),
      /no-config-source: somebody deleted or changed the ConfigMap .*: commit that config again/,
    );
  });
});
