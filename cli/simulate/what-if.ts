import type { Millis } from '#shared/runtime/clock.ts';
import { RESTARTS } from '#reconciler/policy/forecast/duration-range.ts';
import { INJECTED_FAULTS } from '../injected-faults.ts';
import { seededRandom } from '../seeded-random.ts';
import { type Simulation, type SimulationQuestion, simulate } from './simulate.ts';

/** How far a config that kills kubelets would get. */
export interface WhatIf {
  /** A clause that goes on after "a config that". */
  readonly fault: string;
  readonly runs: number;
  /** In how many of them a halt stopped it. */
  readonly stopped: number;
  /** The most nodes that got it assigned in one run, and the most that it failed on. */
  readonly seen: number;
  readonly failed: number;
}

/** How long the rollout takes with quick and with slow restarts. */
export interface TookWith {
  readonly restartMs: Millis;
  readonly tookMs: Millis;
}

/** Enough to see the worst of a few places, and few enough for a person to wait for. */
const [RUNS, RUNS_OF_MANY, MANY_NODES] = [20, 3, 500];

/** The same rollout with each planted fault. Trials that `failureRate` has fail are left out: they would hide the fault. */
export function whatIf(question: SimulationQuestion): readonly WhatIf[] {
  const runsByChance = question.nodes.length > MANY_NODES ? RUNS_OF_MANY : RUNS;
  return INJECTED_FAULTS.map(({ fault, failsAfter, byChance }) => {
    const runs = byChance === true ? runsByChance : 1;
    const found = Array.from({ length: runs }, (_, seed) => {
      const chance = seededRandom(seed + 1);
      const failing = new Map(question.nodes.map(({ name }) => [name, failsAfter(chance())]));
      const manners = {
        ...question.manners,
        failureRate: 0,
        random: seededRandom(seed + 1),
        failsAfter: (node: string) => failing.get(node) ?? null,
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
export function timesWith(question: SimulationQuestion): readonly [TookWith, TookWith] {
  const took = (times: number): TookWith => {
    const restartMs = question.manners.restartMs * times;
    const { start, end } = simulate({ ...question, manners: { ...question.manners, failureRate: 0, restartMs } });
    return { restartMs, tookMs: end - start };
  };
  return [took(RESTARTS.quick), took(RESTARTS.slow)];
}
