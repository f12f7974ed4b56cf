import type { AnalysisSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type MeasureName, MEASURES } from '#shared/contract/api/measures.ts';
import type { MeasureChange, MeasuredNode, NodeSample } from './sample.ts';
import { type MeasureThreshold, THRESHOLDS } from './thresholds.ts';
import { formatNodeCount, regressionOf } from './regression.ts';

/** What the measures of the canaries say of their config. */
export type CanaryVerdict =
  /** Nothing got worse by more than it may. `because`: what was compared. */
  | { readonly verdict: 'pass'; readonly because: string }
  /** `because`: which measures got worse, from what to what, and how the nodes that wait did meanwhile. */
  | { readonly verdict: 'fail'; readonly because: string }
  /** `because`: what is missing. */
  | { readonly verdict: 'unknown'; readonly because: string };

/**
 * Compares the canaries with themselves before the change, and with the nodes that wait. A measure fails its config if it grew on the
 * canaries by more than its threshold, beyond its growth on the nodes that wait, and at most one in twenty of those got as much worse.
 */
export function analyse(
  canaries: readonly NodeSample[],
  waiting: readonly MeasuredNode[],
  { measures = MEASURES, thresholds = {} }: Pick<AnalysisSpec, 'measures' | 'thresholds'> = {},
): CanaryVerdict {
  const [measured, missing]: [MeasuredNode[], string[]] = [[], []];
  for (const sample of canaries) {
    if ('missing' in sample) missing.push(sample.missing);
    else measured.push(sample);
  }
  if (canaries.length === 0) return { verdict: 'unknown', because: 'no canary has proven the config yet' };
  // A node without measures clears no config: the middle one of all is worse where most of them are.
  const isMost = measured.length > missing.length;
  const found = isMost ? measures.flatMap((name) => judge(name, measured, waiting, thresholds[name] ?? {}) ?? []) : [];
  if (found.length > 0) return { verdict: 'fail', because: found.join('; ') };
  if (missing.length > 0) return { verdict: 'unknown', because: formatFirstSentences(missing) };
  return {
    verdict: 'pass',
    because: `${formatNodeCount(canaries.length)} compared with ${formatNodeCount(waiting.length)} that wait`,
  };
}

function judge(
  name: MeasureName,
  canaries: readonly MeasuredNode[],
  waiting: readonly MeasuredNode[],
  own: Partial<MeasureThreshold>,
): string | null {
  const [tried, others] = [changesOf(name, canaries), changesOf(name, waiting)];
  if (tried.length === 0) return null;
  const { amount, what, ...usual } = THRESHOLDS[name];
  const found = regressionOf(tried, others, { ...usual, ...own, nothing: usual.least, worse: 'up' });
  return found === null ? null : `${amount(found.now)} ${what}, before ${amount(found.before)}; ${found.meanwhile}`;
}

const changesOf = (name: MeasureName, measured: readonly MeasuredNode[]): readonly MeasureChange[] =>
  measured.flatMap(({ changes }) => changes[name] ?? []);

const MOST_NAMED = 3;

/** What is missing, of the first few. */
export const formatFirstSentences = (sentences: readonly string[]): string =>
  sentences.length <= MOST_NAMED
    ? sentences.join('; ')
    : `${sentences.slice(0, MOST_NAMED).join('; ')}; and ${sentences.length - MOST_NAMED} more`;
