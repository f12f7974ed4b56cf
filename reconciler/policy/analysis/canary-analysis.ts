import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisSpec, AnalysisStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { analyse, type CanaryVerdict } from './analyse.ts';
import { judgeQueries } from './judge-queries.ts';
import type { QueryAnswers } from './query-answer.ts';
import { sampleOfCanary, sampleOfWaiting } from './sample.ts';

/** The nodes that are compared, by what they run. */
interface Compared {
  /** What nodes that wait measure for: the value of `MEASURE_ANNOTATION`. */
  readonly mark: string;
  /** They have proven the payload; `sha256` is what each of them runs. */
  readonly canaries: readonly { readonly node: KubeletNode; readonly sha256: string }[];
  /** Not assigned yet. */
  readonly waiting: readonly KubeletNode[];
  /** What the Prometheus of the pool says; undefined without one, and if it was not asked. */
  readonly answers?: QueryAnswers | undefined;
}

/** Windows of ten minutes that agents tell with their heartbeats have nothing in common when so much lies between them. */
const CONFIRM_MS: Millis = 15 * 60_000;

/**
 * Where the analysis stands now. A verdict that stands is never judged again. One bad look is not enough to fail: bursts come to
 * healthy nodes, too, so what looks worse is looked at again in windows that begin later.
 *
 * @param before of the same payload; undefined where the canaries have only now proved it
 */
export function nextAnalysis(
  spec: AnalysisSpec,
  compared: Compared,
  before: AnalysisStatus | undefined,
  now: Millis,
): AnalysisStatus {
  if (before !== undefined && before.verdict !== 'waiting' && before.verdict !== 'suspect') return before;
  const since = fromTimestamp(before?.since) ?? now;
  const { verdict, because } = judged(spec, compared, before?.message);
  const stays = (message: string): AnalysisStatus => ({
    verdict: before?.verdict ?? 'waiting',
    since: toTimestamp(since),
    message,
  });
  const becomes = (next: AnalysisStatus['verdict'], message: string): AnalysisStatus => ({
    verdict: next,
    since: toTimestamp(now),
    message,
  });

  const timeoutMs = parseDuration(spec.timeout) ?? 0;
  const lasted = now - since;
  if (before?.verdict === 'suspect' && lasted < CONFIRM_MS) return before;
  if (verdict === 'unknown') {
    const limitMs = before?.verdict === 'suspect' ? CONFIRM_MS + timeoutMs : timeoutMs;
    return lasted < limitMs ? stays(because) : becomes('unknown', `not enough to compare in time: ${because}`);
  }
  if (verdict === 'fail' && before?.verdict !== 'suspect') {
    return becomes('suspect', `${because}; looked at again in ${CONFIRM_MS / 60_000} minutes`);
  }
  return becomes(verdict, because);
}

/** One measure that got worse is enough to fail; one that cannot be judged is enough to wait. */
function judged(spec: AnalysisSpec, compared: Compared, saidBefore: string | undefined): CanaryVerdict {
  const { prometheus, measures } = spec;
  const { canaries, waiting, answers } = compared;
  const verdicts: CanaryVerdict[] = [];
  if (measures?.length !== 0) verdicts.push(ofAgents(spec, compared));
  if (prometheus !== undefined) {
    if (answers === undefined) {
      return { verdict: 'unknown', because: saidBefore ?? 'Prometheus has not been asked yet' };
    }
    const name = (node: KubeletNode): string => node.metadata.name;
    const names = { canaries: canaries.map(({ node }) => name(node)), waiting: waiting.map(name) };
    verdicts.push(...judgeQueries(prometheus, answers, names));
  }
  const worst = (['fail', 'unknown', 'pass'] as const).find((each) => verdicts.some(({ verdict }) => verdict === each));
  const because = verdicts.filter(({ verdict }) => verdict === worst).map((each) => each.because);
  return { verdict: worst ?? 'unknown', because: because.join('; ') };
}

const ofAgents = (spec: AnalysisSpec, { mark, canaries, waiting }: Compared): CanaryVerdict =>
  analyse(
    canaries.map(({ node, sha256 }) => sampleOfCanary(node.metadata.name, node.status?.measures, sha256)),
    waiting.flatMap((node) => sampleOfWaiting(node.metadata.name, node.status?.measures, mark) ?? []),
    spec,
  );
