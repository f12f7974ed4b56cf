import type { AnalysisSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type MeasureName, MEASURES } from '#shared/contract/api/measures.ts';
import { chanceOfRank, median } from './rank.ts';
import type { MeasureChange, NodeSample } from './sample.ts';
import { allowedOf, type MeasureThreshold, THRESHOLDS } from './thresholds.ts';

/** What the measures of the canaries say of their config. */
export type CanaryVerdict =
  /** Nothing got worse by more than it may. `because`: what was compared. */
  | { readonly verdict: 'pass'; readonly because: string }
  /** `because`: which measures got worse, from what to what, and how the nodes that wait did meanwhile. */
  | { readonly verdict: 'fail'; readonly because: string }
  /** `because`: what is missing. */
  | { readonly verdict: 'unknown'; readonly because: string };

/** A change that one node in twenty has by chance is not the config's doing. */
const MOST_CHANCE = 0.05;

/** With fewer nodes that wait no rank is rare enough, and only a change twice as large counts. */
const FEWEST_WAITING = 1 / MOST_CHANCE - 1;

/**
 * Compares the canaries with themselves before the change, and with the nodes that wait. A measure fails its config where it grew on the
 * canaries by more than its threshold, beyond what it grew on the nodes that wait, and where at most one in twenty of those changed as much.
 */
export function analyse(
  canaries: readonly NodeSample[],
  waiting: readonly NodeSample[],
  { measures = MEASURES, thresholds = {} }: Pick<AnalysisSpec, 'measures' | 'thresholds'> = {},
): CanaryVerdict {
  const missing = canaries.flatMap((sample) => ('missing' in sample ? [sample.missing] : []));
  if (canaries.length === 0) return { verdict: 'unknown', because: 'no canary has proved the config yet' };
  if (missing.length > 0) return { verdict: 'unknown', because: named(missing) };
  const found = measures.flatMap((name) => judge(name, canaries, waiting, thresholds[name] ?? {}) ?? []);
  if (found.length > 0) return { verdict: 'fail', because: found.join('; ') };
  return { verdict: 'pass', because: `${nodes(canaries.length)} compared with ${nodes(waiting.length)} that wait` };
}

function judge(
  name: MeasureName,
  canaries: readonly NodeSample[],
  waiting: readonly NodeSample[],
  own: Partial<MeasureThreshold>,
): string | null {
  const [tried, others] = [changesOf(name, canaries), changesOf(name, waiting)];
  if (tried.length === 0) return null;
  const { say, ...usual } = THRESHOLDS[name];
  const isFew = others.length < FEWEST_WAITING;
  const before = median(tried.map((change) => change.before));
  const grown = median(tried.map(growth));
  const grownMeanwhile = others.length === 0 ? 0 : Math.max(0, median(others.map(growth)));
  const allowed = allowedOf({ ...usual, ...own }, before) * (isFew ? 2 : 1);
  if (grown - grownMeanwhile <= allowed) return null;
  const times = timesOf(usual.least);
  const [rank, ranks] = [median(tried.map(times)), others.map(times)];
  const asMuch = ranks.filter((other) => other >= rank).length;
  const isRare = isFew ? asMuch === 0 : chanceOfRank(rank, ranks) <= MOST_CHANCE;
  if (!isRare) return null;
  const now = median(tried.map((change) => change.now));
  const meanwhile =
    others.length === 0
      ? 'no other node was measured'
      : `of ${nodes(others.length)} that wait ${asMuch} changed as much`;
  return `${say(now)}, before ${say(before)}; ${meanwhile}`;
}

/** By how many times a measure grew, so that a node with much of it does not rank first: what is below `least` is nothing. */
const timesOf =
  (least: number) =>
  ({ before, now }: MeasureChange): number =>
    (now + least) / (before + least);

const growth = ({ before, now }: MeasureChange): number => now - before;

const changesOf = (name: MeasureName, samples: readonly NodeSample[]): readonly MeasureChange[] =>
  samples.flatMap((sample) => ('changes' in sample ? (sample.changes[name] ?? []) : []));

const nodes = (count: number): string => (count === 1 ? '1 node' : `${count} nodes`);

const MOST_NAMED = 3;

const named = (sentences: readonly string[]): string =>
  sentences.length <= MOST_NAMED
    ? sentences.join('; ')
    : `${sentences.slice(0, MOST_NAMED).join('; ')}; and ${sentences.length - MOST_NAMED} more`;
