import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUnavailable } from '#reconciler/policy/rollout/membership.ts';
import { commit, COMMIT_B } from '../../support/fleet.ts';
import { BASE, DEADLY_BASE, EIGHT, MINUTE, NIGHT, OTHER_BASE, poolOf, Rewritten } from './support/rewritten-files.ts';

describe('a node that asks for a restart', () => {
  it('needs none for another payload: the assignment is its turn, and the old one goes with it', () => {
    const fleet = new Rewritten(['n1', 'n2'], { maxUnavailable: 2 });
    fleet.rewrite(BASE, ['n1']);
    fleet.rounds(4);
    assert.equal(fleet.node('n1').spec?.turn?.seen, BASE);
    fleet.rewrite(OTHER_BASE, ['n1']);
    const other = poolOf('workers', 110, { maxUnavailable: 2 });
    fleet.commit(other);
    assert.deepEqual(
      [fleet.node('n1').spec?.turn, fleet.node('n1').spec?.configSource?.sha256],
      [undefined, other.sha256],
    );
    fleet.rounds(6);
    assert.deepEqual([fleet.sim.granted, fleet.restarts()], [['n1'], { n1: 2, n2: 1 }]);
  });

  it('keeps its turn when its pool says something else besides the payload', () => {
    const fleet = new Rewritten(['n1']);
    fleet.rewrite(BASE);
    fleet.sim.reconcile();
    fleet.commit(poolOf('workers', 100, {}, { trial: { duration: '1m', startTimeout: '1m', maxRestarts: 0 } }));
    assert.deepEqual([fleet.node('n1').spec?.turn?.seen, fleet.node('n1').spec?.trial?.duration], [BASE, '1m']);
  });

  it('hears while it waits that its pool only wants drift reported', () => {
    const fleet = new Rewritten(['n1'], { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.commit(poolOf('workers', 100, { windows: NIGHT }, { drift: 'report' }));
    assert.deepEqual([fleet.node('n1').spec?.drift, fleet.sim.granted], ['report', []]);
  });

  it('is asked again when it has seen something else before it began', () => {
    const fleet = new Rewritten(['n1', 'n2']);
    fleet.rewrite(BASE, ['n1']);
    fleet.sim.reconcile();
    fleet.rewrite(OTHER_BASE, ['n1']);
    fleet.rewrite(BASE, ['n2']);
    fleet.rounds(20);
    assert.deepEqual([fleet.sim.granted, fleet.most], [['n1', 'n1', 'n2'], 1]);
    assert.deepEqual(fleet.restarts(), { n1: 1, n2: 1 });
  });

  it('holds no place while it waits, and one from its turn on until it is settled', () => {
    const fleet = new Rewritten(EIGHT, { windows: NIGHT });
    fleet.rewrite(BASE);
    fleet.rounds(2);
    const first = fleet.sim.reconcile().nodes.groups[0];
    assert.deepEqual(
      first?.group.members.map((member) => `${isUnavailable(member)} ${member.lifecycle.shown}`).at(0),
      'false awaits-turn',
    );
    const open = new Rewritten(EIGHT);
    open.rewrite(BASE, ['n1']);
    open.rounds(1);
    open.sim.now += 16 * 60_000;
    for (const name of open.sim.fleet.nodes.keys()) open.sim.beat(name);
    open.commit(poolOf('workers', 110, {}));
    assert.deepEqual(
      [...(open.sim.exposed.get(poolOf('workers', 110, {}).sha256) ?? [])],
      ['n1'],
      'only who is in the middle of its restart hears of another payload',
    );
  });

  it('is no new node where its agent lost its state: it waits its turn as everybody does', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    const local = { name: 'local' };
    for (const [index, name] of EIGHT.entries()) {
      fleet.report(name, {
        phase: index % 2 === 0 ? 'Idle' : 'Staging',
        active: local,
        lastKnownGood: local,
        promotedAt: null,
        awaitsTurn: { reason: 'StateLost', seen: `lost-${name}`, message: 'its agent lost its state' },
      });
    }
    fleet.rounds(1);
    assert.deepEqual(fleet.sim.granted, ['n1']);
    // It tries the config as a new one, but for the turn in its spec.
    fleet.report('n1', { phase: 'Trial' });
    fleet.sim.reconcile();
    assert.deepEqual(fleet.sim.granted, ['n1'], 'a node on trial holds the only place');
    fleet.rounds(40);
    assert.deepEqual([fleet.most, [...fleet.sim.granted].sort()], [1, EIGHT]);
  });

  it('is no new node where it was taken over without a trial: it holds its place in the budget', () => {
    const fleet = new Rewritten(EIGHT, { maxUnavailable: 1 });
    for (const name of EIGHT) fleet.report(name, { promotedAt: null });
    fleet.report('n8', { phase: 'FallingBack' });
    const next = poolOf('workers', 110, { maxUnavailable: 1 });
    fleet.commit(next);
    assert.deepEqual(
      [...(fleet.sim.exposed.get(next.sha256) ?? [])],
      ['n8'],
      'only who is at it hears of the next one',
    );
  });

  it('soaks first where it has yet to', () => {
    const fleet = new Rewritten(['n1'], { soak: '10m' });
    fleet.rewrite(BASE);
    fleet.rounds(4);
    assert.deepEqual(fleet.sim.granted, []);
    fleet.sim.now += 11 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rounds(4);
    assert.deepEqual(fleet.sim.granted, ['n1']);
  });

  it('keeps no rollout from its end where it has proved the payload', () => {
    const rollout = { canary: { nodes: 1, soak: '5m' }, soak: '0s' };
    const fleet = new Rewritten(['n1', 'n2', 'n3'], rollout);
    fleet.sim.deadlyBases.add(DEADLY_BASE);
    fleet.rewrite(DEADLY_BASE, ['n3']);
    fleet.rounds(6);
    const next = poolOf('workers', 110, rollout);
    fleet.commit(next);
    fleet.rounds(4);
    assert.deepEqual([...(fleet.sim.exposed.get(next.sha256) ?? [])], ['n1'], 'the canary');
    for (let round = 0; round < 6; round += 1) {
      fleet.rewrite(DEADLY_BASE, ['n1']);
      fleet.rounds(4);
      fleet.sim.now += 6 * MINUTE;
      fleet.sim.agentsStep();
    }
    const { phase, settled } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, settled?.sha256], ['Settled', next.sha256]);
  });
});

describe('a pool whose nodes ask for restarts', () => {
  it('has settled on what they all have proved', () => {
    const rollout = { maxUnavailable: 3, windows: NIGHT };
    const fleet = new Rewritten(['n1', 'n2', 'n3'], rollout);
    fleet.sim.now += 15 * 60 * MINUTE;
    fleet.sim.agentsStep();
    const next = poolOf('workers', 110, rollout);
    fleet.commit(next);
    for (let step = 0; step < 3; step += 1) fleet.sim.agentsStep();
    fleet.sim.now += 60 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    fleet.rounds(2);
    const { phase, settled } = fleet.sim.fleet.pools.get('workers')?.status ?? {};
    assert.deepEqual([phase, settled?.sha256, fleet.holds()], ['Settled', next.sha256, ['window 3']]);
  });

  it('is under way until the last of them that may restart has', () => {
    const fleet = new Rewritten(EIGHT, { soak: '5m' });
    const phases: (string | undefined)[] = [];
    fleet.sim.now += 6 * MINUTE;
    fleet.sim.agentsStep();
    fleet.rewrite(BASE);
    for (let round = 0; round < 40; round += 1) {
      fleet.rounds(1);
      const phase = fleet.sim.reconcile().pools.get('workers')?.phase;
      if (phase !== phases.at(-1)) phases.push(phase);
      fleet.sim.now += 2 * MINUTE;
      fleet.sim.agentsStep();
    }
    assert.deepEqual(phases, ['Progressing', 'Settled'], 'its end is told once');
  });
});

describe('an agent of a release that asks for nothing', () => {
  it('is planned for as before, and no spec has a turn in it', () => {
    const fleet = new Rewritten(EIGHT);
    fleet.report('n1', { phase: 'Drifted' });
    assert.deepEqual(
      fleet.sim.reconcile().steps.filter(({ step }) => step !== 'write-pool-status'),
      [],
    );
    fleet.sim.inForce = commit(COMMIT_B, poolOf('workers', 110, {}));
    fleet.rounds(40);
    assert.ok([...fleet.sim.fleet.kubeletNodes.values()].every(({ spec }) => spec?.turn === undefined));
  });
});
