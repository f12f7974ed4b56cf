import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { NodeEvent } from '#cli/simulate/simulated-fleet.ts';
import { limitOf } from '#reconciler/policy/rollout/amount.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { commit, COMMIT_B, NOW, poolSpec, validPool } from '../support/fleet.ts';
import { runsOf } from '../support/sample.ts';
import { inventoryNodes } from './support/inventory-node.ts';

const [SECOND, MINUTE] = [1_000, 60_000];
const RESTART_MS = 10 * SECOND;
const RUNS = runsOf(1_000, 50);
const { probation: _, ...USUAL } = poolSpec().rollout;

type Random = () => number;
const oneOf = <T>(random: Random, choices: readonly [T, ...T[]]): T =>
  choices[Math.floor(random() * choices.length)] ?? choices[0];

/** After how much healthy time a node fails; null where it does not. */
type FailsAfter = (index: number) => number | null;

/** What a config does, and whether every node shows it within the trial of a canary. */
const FAULTS: readonly (readonly [string, boolean, (random: Random) => FailsAfter])[] = [
  ['at once', true, () => () => 5 * SECOND],
  ['after eight minutes', true, () => () => 8 * MINUTE],
  [
    'on one node in 30',
    false,
    (random) => {
      const bad = Math.floor(random() * 30);
      return (index) => (index % 30 === bad ? 5 * SECOND : null);
    },
  ],
  ['on one class of machines', false, () => (index) => (index % 4 === 3 ? 5 * SECOND : null)],
  [
    'under load',
    false,
    (random) => {
      const load = new Map<number, number | null>();
      return (index) => {
        const known = load.get(index);
        if (known !== undefined) return known;
        const comes = random() < 0.5 ? random() * 3 * MINUTE : null;
        load.set(index, comes);
        return comes;
      };
    },
  ],
];

function anyRollout(random: Random): RolloutSpec {
  const canary = oneOf(random, [undefined, { nodes: 1 }, { nodes: 2 }]);
  const maxOnTrial = oneOf(random, [undefined, '10%', '50%', 3]);
  return {
    ...USUAL,
    maxUnavailable: oneOf<number | string>(random, [1, 2, 4, '10%', '25%']),
    probation: oneOf(random, ['50s', '20s', '2m']),
    soak: oneOf(random, ['0s', '0s', '2m']),
    ...(canary === undefined ? {} : { canary }),
    ...(maxOnTrial === undefined ? {} : { maxOnTrial }),
  };
}

const inventory = (count: number) => inventoryNodes(count, 'n-');

/** Holds every beginning to both bounds, by what had happened until then. @returns how many nodes began, and how many failed */
function held(events: readonly NodeEvent[], rollout: RolloutSpec, count: number): readonly [number, number] {
  const [probationMs, soakMs] = [parseDuration(rollout.probation ?? '') ?? 0, parseDuration(rollout.soak) ?? 0];
  const unavailable = limitOf(rollout.maxUnavailable, count);
  const most =
    rollout.maxOnTrial === undefined
      ? Math.max(limitOf('20%', count), unavailable)
      : limitOf(rollout.maxOnTrial, count);
  const canaries = Math.min(count, Number(rollout.canary?.nodes ?? 1));
  const of = (kind: NodeEvent['event']): ReadonlyMap<string, number> =>
    new Map(events.flatMap(({ event, node, at }) => (event === kind ? [[node, at]] : [])));
  const [started, proved, failed] = [of('started'), of('proved'), of('failed')];
  for (const now of new Set(started.values())) {
    const begun = [...started].filter(([, at]) => at <= now).map(([name]) => name);
    const isProved = (name: string): boolean => (proved.get(name) ?? Infinity) <= now;
    const isPast = (name: string): boolean =>
      isProved(name) ||
      ((started.get(name) ?? now) + RESTART_MS + probationMs <= now && (failed.get(name) ?? Infinity) > now);
    const earlier = begun.filter((name) => started.get(name) !== now);
    let allowed = canaries;
    const passed = earlier.filter(isPast).length;
    if (earlier.filter(isProved).length >= canaries) while (allowed <= passed) allowed *= 2;
    const onTrial = begun.filter((name) => now - (proved.get(name) ?? now) < soakMs || !isProved(name)).length;
    assert.ok(onTrial <= Math.min(most, allowed), `${onTrial} on trial, where ${Math.min(most, allowed)} may`);
    const away = begun.filter((name) => !isPast(name)).length;
    assert.ok(away <= unavailable, `${away} unavailable, where ${unavailable} may`);
  }
  assert.ok(failed.size <= most, `${failed.size} failed, where ${most} may be on trial`);
  return [started.size, failed.size];
}

describe('a config that kills kubelets', () => {
  for (const [fault, isEverywhere, plant] of FAULTS) {
    it(`${fault} reaches no more nodes than the bounds say, in ${RUNS} rollouts`, (t) => {
      let [worst, stopped] = [0, 0];
      for (let seed = 1; seed <= RUNS; seed += 1) {
        const random = seededRandom(seed);
        const [count, rollout, failsAfter] = [4 + Math.floor(random() * 60), anyRollout(random), plant(random)];
        const pool = validPool('workers', 100, { rollout });
        const { events, pools } = simulate({
          base: null,
          head: commit(COMMIT_B, pool).repo,
          nodes: inventory(count),
          manners: {
            failureRate: 0,
            restartMs: RESTART_MS,
            random,
            failsAfter: (name) => failsAfter(Number(name.slice(2))),
          },
          start: NOW,
          horizonMs: 200 * 60 * MINUTE,
        });
        const [began, failed] = held(events, rollout, count);
        if (isEverywhere) assert.ok(began <= Number(rollout.canary?.nodes ?? 1), `seed ${seed}: ${began} began`);
        if (pools.get('workers')?.phase === 'Halted') stopped += 1;
        worst = Math.max(worst, failed);
      }
      t.diagnostic(`${fault}: stopped in ${stopped} of ${RUNS}; most nodes that it failed on: ${worst}`);
      assert.ok(stopped > 0 && (!isEverywhere || stopped === RUNS));
    });
  }
});
