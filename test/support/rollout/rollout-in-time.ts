import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { createSimulatedFleet, type SimulatedFleet } from '#cli/simulate/simulated-fleet.ts';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { forecastPools, type RolloutForecast } from '#reconciler/policy/forecast/forecast-pools.ts';
import { plan, type Plan } from '#reconciler/policy/plan.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../fleet.ts';
import { inventoryNodes } from '../../cli/support/inventory-node.ts';

/** A moment of a rollout, as the planner sees and the forecast tells it. */
export interface Moment {
  readonly now: Millis;
  readonly fleet: Fleet;
  readonly inForce: CommitInForce;
  readonly planned: Plan;
  readonly told: RolloutForecast | undefined;
}

const inventoryOf = (count: number): readonly InventoryNode[] =>
  inventoryNodes(count).map((node, index) => ({
    ...node,
    labels: { 'topology.kubernetes.io/zone': `z${index % 3}`, pool: 'w' },
    createdAt: index,
  }));

const { probation: _, ...AT_PACE } = poolSpec().rollout;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const EVERYBODY = { maxUnavailable: '100%', probation: 'full', soak: '0s' } as const;

/** A rollout over nodes that take what nodes take, moment by moment, until the pool has settled or nothing moves any more. */
export function rolloutInTime(
  count: number,
  rollout: Partial<RolloutSpec>,
  failsAfter: (node: string) => Millis | null = () => null,
): readonly Moment[] {
  const nodes = inventoryOf(count);
  const spec = { rollout: { ...AT_PACE, ...rollout }, nodeSelector: {} };
  const manners = { failureRate: 0, restartMs: 10_000, random: seededRandom(1), failsAfter };
  const fleet = createSimulatedFleet(
    nodes,
    { ...manners, failsAfter: (node) => (isOn ? failsAfter(node) : null) },
    NOW,
  );
  let isOn = false;
  const before = validPool('w', 100, { ...spec, rollout: { ...spec.rollout, ...EVERYBODY } });
  const old: CommitInForce = commit(COMMIT_A, before);
  for (let round = 0, now = NOW - 86_400_000; round < 6; round += 1, now += 3_600_000) {
    fleet.pass(now, 0);
    lookAt(fleet, old, now);
  }
  isOn = true;
  const head = commit(COMMIT_B, validPool('w', 110, spec));
  const moments: Moment[] = [];
  for (let now = NOW, rounds = 0; rounds < 2_000; rounds += 1) {
    fleet.pass(now, 0);
    const moment = lookAt(fleet, head, now);
    moments.push(moment);
    if (moment.planned.pools.get('w')?.rollout?.finishedAt !== undefined) break;
    const next = Math.min(fleet.nextEnd(), fleet.nextSoakEnd(now), now + 60_000);
    now = Math.max(next, now + 1_000);
  }
  return moments;
}

function lookAt(fleet: SimulatedFleet, inForce: CommitInForce, now: Millis): Moment {
  for (let look = 0; ; look += 1) {
    const seen = fleet.at(now);
    const desired = desiredState(inForce, seen, () => []);
    const planned = plan(desired, seen, SETTINGS, now);
    fleet.perform(planned.steps, now);
    if (planned.steps.length === 0 || look === 4) {
      const told = forecastPools(planned.nodes, seen, [null], now).get('w');
      return { now, fleet: seen, inForce, planned, told };
    }
  }
}
