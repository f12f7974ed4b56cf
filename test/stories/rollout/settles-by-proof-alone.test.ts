import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';

const MINUTE = 60_000;
const rollout = {
  ...poolSpec().rollout,
  maxUnavailable: 1,
  canary: { nodes: 1, soak: '2h' },
  onFailure: { threshold: 1, action: 'revert' as const },
};
const [GOOD, NEXT] = [validPool('workers', 110, { rollout }), validPool('workers', 120, { rollout })];

/** Ten nodes that settled on a config, and a canary that soaks with the next one. */
function soaking(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`n${index}`, 'workers'));
  fleet.inForce = commit(COMMIT_A, GOOD);
  minutes(fleet, 200);
  assert.equal(statusOf(fleet)?.phase, 'Settled');
  fleet.inForce = commit(COMMIT_B, NEXT);
  minutes(fleet, 20);
  assert.deepEqual(withNext(fleet).length, 1, 'the canary');
  return fleet;
}

/** Every minute the reconciler and every agent that is not silent has its turn. */
function minutes(fleet: FleetSimulation, count: number, silent: ReadonlySet<string> = new Set()): void {
  for (let minute = 0; minute < count; minute += 1) {
    fleet.reconcile();
    for (const name of fleet.fleet.nodes.keys()) if (!silent.has(name)) fleet.agentStep(name);
    fleet.now += MINUTE;
  }
}

const statusOf = (fleet: FleetSimulation) => fleet.fleet.pools.get('workers')?.status;
const withNext = (fleet: FleetSimulation): readonly string[] =>
  [...fleet.fleet.kubeletNodes]
    .filter(([, { spec }]) => spec?.configSource?.sha256 === NEXT.sha256)
    .map(([name]) => name);

/** What happens to every node that waits, in the middle of the canary's soak, for two minutes. */
const BLIPS: Readonly<
  Record<string, (fleet: FleetSimulation, waiting: readonly NodeView[]) => ReadonlySet<string> | void>
> = {
  'are cordoned': (fleet, waiting) => {
    for (const view of waiting) fleet.addNode({ ...view, cordoned: true });
  },
  'are not Ready': (fleet, waiting) => {
    for (const view of waiting) fleet.addNode({ ...view, ready: false, readySince: fleet.now });
  },
  'are deleted': (fleet, waiting) => {
    for (const { name } of waiting) fleet.removeNode(name);
  },
  'leave the pool': (fleet, waiting) => {
    for (const view of waiting) fleet.addNode({ ...view, labels: { pool: 'nobody' } });
  },
  'have silent agents': (_, waiting) => new Set(waiting.map(({ name }) => name)),
};

describe('a pool whose canary soaks', () => {
  for (const [what, happen] of Object.entries(BLIPS)) {
    it(`settles on nothing, and gives its config to nobody, while the others ${what}`, () => {
      const fleet = soaking();
      const canary = withNext(fleet);
      const waiting = [...fleet.fleet.nodes.values()].filter(({ name }) => !canary.includes(name));
      const silent = happen(fleet, waiting) ?? new Set();
      minutes(fleet, silent.size > 0 ? 18 : 2, silent);
      assert.equal(statusOf(fleet)?.settled?.sha256, GOOD.sha256);
      assert.equal(statusOf(fleet)?.rollout?.finishedAt, undefined);
      const since = { createdAt: fleet.now, readySince: fleet.now };
      for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`new${index}`, 'workers', since));
      minutes(fleet, 60, silent);
      assert.deepEqual(withNext(fleet), canary, 'who joins gets what the pool settled on');
    });
  }

  it('takes the config back from every node that has it, after all Nodes were not Ready for a minute', () => {
    const fleet = soaking();
    const views = [...fleet.fleet.nodes.values()];
    for (const view of views) fleet.addNode({ ...view, ready: false, readySince: fleet.now });
    minutes(fleet, 1);
    for (const view of views) fleet.addNode({ ...view, ready: true, readySince: fleet.now });
    for (let minute = 0; minute < 300 && withNext(fleet).length < 3; minute += 1) minutes(fleet, 1);
    assert.equal(withNext(fleet).length, 3, 'the rest has begun');
    fleet.deadly.add(NEXT.sha256);
    minutes(fleet, 60);
    assert.equal(statusOf(fleet)?.phase, 'Halted');
    assert.deepEqual(withNext(fleet), [], 'nobody keeps it');
  });
});
