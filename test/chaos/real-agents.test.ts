import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertFleetInvariants, type FleetLimits } from '../support/real-fleet/fleet-invariants.ts';
import { POOL, poolWith } from '../support/real-fleet/pool-with.ts';
import { PATIENCE_MS, type RealFleet, type RealMachine, startRealFleet } from '../support/real-fleet/real-fleet.ts';

const NODES = 100;
const MINUTE = 60_000;
/** With so many pods, a kubelet dies after it was healthy for eight minutes. */
const DEADLY = 666;
const [BEFORE, AFTER] = [100, 120];

const promisesFor = (maxPods: number): FleetLimits => ({
  configName: poolWith(maxPods).configName,
  maxPods,
  maxUnavailable: 1,
  maxOnTrial: NODES / 5,
  probationMs: 50_000,
  trialMs: 10 * MINUTE,
});

/** The agents' own code, at their own pace, in hours that take no longer than their work. */
describe(`a rollout of ${NODES} real agents, one at a time, as shipped`, () => {
  let fleet: RealFleet;
  const settles = (commit: string, look?: () => void): Promise<void> => {
    const isOver = (): boolean => {
      const { status } = fleet.pool() ?? {};
      return status?.commit === commit && status.phase === 'Settled';
    };
    return fleet.clock.until('everybody to have it', isOver, PATIENCE_MS, look);
  };

  before(async () => {
    const fault: RealMachine['fault'] = ({ maxPods }) =>
      maxPods === DEADLY ? { fault: 'crash', afterMs: 8 * MINUTE, reason: 'it has had enough' } : null;
    const names = Array.from({ length: NODES }, (_, index) => `node-${index}`);
    fleet = await startRealFleet(names.map((name) => ({ name, labels: { pool: POOL }, fault })));
    const open = { rollout: { maxUnavailable: '100%', probation: 'full' }, trial: { duration: '1m' } };
    await settles(fleet.commit(poolWith(BEFORE, open)));
    // Apart from what the nodes run: one commit with both would be held to the stricter limits of the two.
    await settles(fleet.commit(poolWith(BEFORE)));
  });
  after(() => fleet?.stop());

  it('takes no more than two hours, within both bounds at every moment', async (t) => {
    const { look, seen } = assertFleetInvariants(fleet, promisesFor(AFTER));
    const began = fleet.clock.monotonic();
    await settles(fleet.commit(poolWith(AFTER)), look);
    const minutes = (fleet.clock.monotonic() - began) / MINUTE;
    t.diagnostic(`${minutes.toFixed(1)} min; at most ${seen.mostAway} away, ${seen.mostOnTrial} on trial`);
    assert.equal(seen.told, NODES);
    assert.ok(minutes <= 120, `${minutes} min`);
    assert.ok(seen.mostOnTrial > 1);
  });

  it('tells a config that kills kubelets after eight minutes to the canary alone', async (t) => {
    const { look, seen } = assertFleetInvariants(fleet, promisesFor(DEADLY));
    const began = fleet.clock.monotonic();
    const commit = fleet.commit(poolWith(DEADLY));
    const isHalted = (): boolean => {
      const { status } = fleet.pool() ?? {};
      return status?.commit === commit && status.phase === 'Halted';
    };
    await fleet.clock.until('a halt', isHalted, PATIENCE_MS, look);
    t.diagnostic(`halted after ${((fleet.clock.monotonic() - began) / MINUTE).toFixed(1)} min`);
    await fleet.clock.pass(20 * MINUTE, look);
    assert.equal(seen.told, 1);
    for (const { kubelet } of fleet.nodes.values()) assert.equal(kubelet.running()?.['maxPods'], AFTER);
  });
});
