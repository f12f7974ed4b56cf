import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forecastPools } from '#reconciler/policy/forecast/forecast-pools.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { GroupPlan } from '#reconciler/policy/plan-nodes.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import type { Amount, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  desiredPool,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolSpec,
  settledOn,
  validPool,
} from '../../../support/fleet.ts';

const ROLLOUT: RolloutSpec = { ...poolSpec().rollout, probation: '60s', maxUnavailable: '100%' };
const [ONE, OTHER] = [validPool('one', 110, { rollout: ROLLOUT }), validPool('other', 110)];

/** Nodes that have yet to be told, ready or not. */
const nodesOf = (pool: typeof ONE, count: number, ready: boolean): readonly Member[] =>
  Array.from({ length: count }, (_, index) => {
    const node = nodeView(`${pool.name}-${ready ? 'up' : 'down'}-${index}`, pool.name, { ready });
    return memberOf(node, idleNode(node), targetOf(desiredPool(pool)), 0, NOW, undefined, 60_000);
  });
const rolloutOf = ({ configName, sha256 }: typeof ONE): GroupPlan['memory'] => ({
  halt: null,
  released: null,
  settled: null,
  proof: null,
  rollout: { configName, sha256, startedAt: toTimestamp(NOW), waves: [] },
});

/** By pool, how long its rollout takes in seconds: six nodes of `one` are to begin in it, besides so many that are down; and so on. */
function told(
  bounds: readonly (Amount | null)[],
  down: number,
  others: readonly [up: number, down: number],
  isKnown = true,
) {
  const one = [...nodesOf(ONE, 6, true), ...nodesOf(ONE, down, false)];
  const other = [...nodesOf(OTHER, others[0], true), ...nodesOf(OTHER, others[1], false)];
  // It settled on this config before: nothing but places bounds who begins.
  const proof = poolProof({ pool: desiredPool(ONE), members: one }, { status: settledOn(ONE), isOwn: true }, NOW);
  const groups: readonly GroupPlan[] = [
    { group: { pool: desiredPool(ONE), members: one, proof }, memory: rolloutOf(ONE), decisions: [] },
    {
      group: { pool: isKnown ? desiredPool(OTHER) : null, members: other },
      memory: { ...rolloutOf(OTHER), rollout: null },
      decisions: [],
    },
  ];
  const forecasts = forecastPools({ groups }, fleetOf({}), bounds, NOW);
  return Object.fromEntries(
    [...forecasts].map(([name, { remaining }]) => [
      name,
      remaining?.is === 'time' ? remaining.expectedMs / 1_000 : (remaining?.is ?? null),
    ]),
  );
}

describe('the forecasts of all pools', () => {
  /** Each turn takes a restart and a probation, the last one a restart and a trial. */
  const seconds = (turns: number): number => (turns - 1) * 70 + 190;
  const ROWS: readonly (readonly [string, readonly (Amount | null)[], number, readonly [number, number], number])[] = [
    ['no bound over all pools', [null], 0, [4, 0], 1],
    ['a bound that all nodes of all pools share', [3], 0, [4, 0], 2],
    ['the narrower one of two bounds', [4, 2], 0, [4, 0], 3],
    ['one bound of two', [null, 2], 0, [4, 0], 3],
    ['a share of the nodes of all pools', ['30%'], 0, [4, 0], 2],
    ['a node that is down elsewhere', [4], 0, [3, 1], 2],
    ['two of them', [4], 0, [2, 2], 3],
    ['a node of its own that is down', [4], 1, [4, 0], 2],
    ['one here and one elsewhere', [4], 1, [3, 1], 3],
  ];
  for (const [name, bounds, down, others, turns] of ROWS) {
    it(`tell what is left with ${name}`, () => {
      assert.deepEqual(told(bounds, down, others), { one: seconds(turns), other: null });
    });
  }

  it('say nothing of nodes whose pool is unknown, but count their places', () => {
    assert.deepEqual(told([4], 0, [3, 1], false), { one: seconds(2) });
  });

  it('know no end where the nodes that are down take all places', () => {
    assert.deepEqual(told([2], 0, [2, 2]), { one: 'unknown', other: null });
  });
});
