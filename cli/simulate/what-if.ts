import type { Millis } from '#shared/runtime/clock.ts';
import { seededRandom } from './seeded-random.ts';
import { type Simulation, type SimulationQuestion, simulate } from './simulate.ts';

/** How far a config that kills kubelets would get. */
export interface WhatIf {
  /** A clause that goes on after "a config that". */
  readonly fault: string;
  readonly runs: number;
  /** In how many of them a halt stopped it. */
  readonly stopped: number;
  /** The most nodes that were told it in one run, and the most that it failed on. */
  readonly seen: number;
  readonly failed: number;
}

/** How long the rollout takes with quick and with slow restarts. */
export interface Spread {
  readonly restartMs: Millis;
  readonly tookMs: Millis;
}

interface Fault {
  readonly fault: string;
  /** After how much healthy time a node fails, by its place among all nodes; null where it does not. */
  readonly failsAfter: (place: number, random: number) => Millis | null;
  /** Which nodes fail is left to chance. */
  readonly byChance?: true;
}

const [SECOND, MINUTE]: readonly [Millis, Millis] = [1_000, 60_000];
const ONE_IN = 30;

const FAULTS: readonly Fault[] = [
  { fault: 'kills every kubelet at once', failsAfter: () => 5 * SECOND },
  { fault: 'kills every kubelet after 8 minutes', failsAfter: () => 8 * MINUTE },
  {
    fault: `kills one kubelet in ${ONE_IN} at once`,
    failsAfter: (place, random) => (place % ONE_IN === Math.floor(random * ONE_IN) ? 5 * SECOND : null),
    byChance: true,
  },
];

/** Enough to see the worst of a few places, and few enough for a person to wait for. */
const [RUNS, RUNS_OF_MANY, MANY_NODES] = [20, 3, 500];

/** The same rollout with each planted fault. Trials that `failureRate` has fail are left out: they would hide the fault. */
export function whatIf(question: SimulationQuestion): readonly WhatIf[] {
  const places = new Map(question.nodes.map(({ name }, place) => [name, place]));
  const runsByChance = question.nodes.length > MANY_NODES ? RUNS_OF_MANY : RUNS;
  return FAULTS.map(({ fault, failsAfter, byChance }) => {
    const runs = byChance === true ? runsByChance : 1;
    const found = Array.from({ length: runs }, (_, seed) => {
      const chance = seededRandom(seed + 1)();
      const manners = {
        ...question.manners,
        failureRate: 0,
        random: seededRandom(seed + 1),
        failsAfter: (node: string) => failsAfter(places.get(node) ?? 0, chance),
      };
      return simulate({ ...question, manners });
    });
    const most = (kind: 'started' | 'failed'): number => Math.max(...found.map((run) => nodesIn(run, kind)));
    return { fault, runs, stopped: found.filter(isHalted).length, seen: most('started'), failed: most('failed') };
  });
}

const nodesIn = ({ events }: Simulation, kind: string): number =>
  new Set(events.filter(({ event }) => event === kind).map(({ node }) => node)).size;

const isHalted = ({ pools }: Simulation): boolean => [...pools.values()].some(({ phase }) => phase === 'Halted');

/** The same rollout, without failures, with restarts half as long and three times as long. */
export function spreadOf(question: SimulationQuestion): readonly [Spread, Spread] {
  const took = (times: number): Spread => {
    const restartMs = question.manners.restartMs * times;
    const { start, end } = simulate({ ...question, manners: { ...question.manners, failureRate: 0, restartMs } });
    return { restartMs, tookMs: end - start };
  };
  return [took(0.5), took(3)];
}
