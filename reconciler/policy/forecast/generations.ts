import type { ReducedBound } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { cohortOf } from '../rollout/cohort.ts';
import { isConfigurable, type Member } from '../rollout/membership.ts';
import { canaryCount } from '../rollout/canaries.ts';
import { allowedOnTrial, mostOnTrial } from '../rollout/on-trial.ts';
import { probationOf } from '../rollout/trial-terms.ts';
import type { GroupPlan } from '../plan-nodes.ts';

/** The nodes that began with a payload while so many might be on trial. */
export interface Generation {
  /** 0 for the canaries, one more whenever the bound doubled, and less again after a failure. */
  readonly generation: number;
  /** How many might run it unproven then. */
  readonly maxOnTrial: number;
  /** Their names, in the order in which they began. */
  readonly nodes: readonly string[];
  /** When the first of them began. */
  readonly from: Millis;
  /** When the last of them was through with its trial; null while one is on trial. */
  readonly doneAt: Millis | null;
  /** How many of them stand where; together all of them. */
  readonly inProbation: number;
  readonly onTrial: number;
  readonly promoted: number;
  readonly failed: number;
}

/** The way of one node with a payload, in moments; absent what has not come. */
export interface TrialTimeline {
  readonly node: string;
  readonly beganAt: Millis;
  readonly passedAt?: Millis;
  readonly promotedAt?: Millis;
  readonly failedAt?: Millis;
}

/**
 * In which generation of a rollout each node began. That is not recorded: the bound of then is counted again from what nodes had
 * shown by then, by the rule that bounds them (`on-trial.ts`). Pure.
 */
export function generationsOf(ways: readonly TrialTimeline[], most: number, canaries: number): readonly Generation[] {
  const moments = (of: (way: TrialTimeline) => Millis | undefined): readonly Millis[] =>
    ways.flatMap((way) => of(way) ?? []).toSorted((a, b) => a - b);
  const passes = countedBy(moments(({ passedAt, promotedAt }) => earliest(passedAt, promotedAt)));
  const promotions = countedBy(moments(({ promotedAt }) => promotedAt));
  // Its own failure is nothing that a node began after.
  const failures = countedBy(moments(({ failedAt }) => failedAt).map((at) => at + 1));
  const found: Generation[] = [];
  let reduced: ReducedBound | undefined;
  for (const [begun, way] of ways.toSorted((a, b) => a.beganAt - b.beganAt).entries()) {
    const at = way.beganAt;
    const failed = failures(at);
    const evidence = { passed: passes(at), promoted: promotions(at), begun: begun - failed, failed };
    const bound = allowedOnTrial(most, canaries, evidence, reduced);
    const { allowed, generation } = bound;
    ({ reduced } = bound);
    const last = found.at(-1);
    if (last?.maxOnTrial !== allowed)
      found.push(withOneMore({ ...EMPTY, generation, maxOnTrial: allowed, from: at }, way));
    else found[found.length - 1] = withOneMore(last, way);
  }
  return found;
}

const EMPTY = { nodes: [], doneAt: 0, inProbation: 0, onTrial: 0, promoted: 0, failed: 0 } as const;

function withOneMore(known: Generation, { node, passedAt, promotedAt, failedAt }: TrialTimeline): Generation {
  const over = failedAt ?? promotedAt;
  const doneAt = known.doneAt === null || over === undefined ? null : Math.max(known.doneAt, over);
  const now = { ...known, nodes: [...known.nodes, node], doneAt };
  if (failedAt !== undefined) return { ...now, failed: known.failed + 1 };
  if (promotedAt !== undefined) return { ...now, promoted: known.promoted + 1 };
  if (passedAt !== undefined) return { ...now, onTrial: known.onTrial + 1 };
  return { ...now, inProbation: known.inProbation + 1 };
}

const earliest = (a = Infinity, b = Infinity): Millis | undefined =>
  Math.min(a, b) === Infinity ? undefined : Math.min(a, b);

/** How many of these moments are over at one that is never earlier than the one asked about before. */
function countedBy(moments: readonly Millis[]): (at: Millis) => number {
  let count = 0;
  return (at) => {
    while ((moments[count] ?? Infinity) <= at) count += 1;
    return count;
  };
}

/**
 * The generations of the present rollout of a pool, or of its last one. Empty where the bound is `maxUnavailable`
 * (`probation: full`), and before any node has begun.
 */
export function generationsIn({ group, memory }: Pick<GroupPlan, 'group' | 'memory'>): readonly Generation[] {
  const { pool } = group;
  const { rollout } = memory;
  const since = fromTimestamp(rollout?.startedAt);
  if (pool === null || rollout === null || since === undefined) return [];
  const probationMs = probationOf(pool.spec.rollout);
  if (probationMs === null) return [];
  const targeted = group.members.filter(isConfigurable);
  const { members } = cohortOf(targeted, rollout, pool.spec.rollout.canary);
  const ways = members.flatMap((member) => wayOf(member, probationMs) ?? []);
  const most = mostOnTrial(pool.spec.rollout, group.members.length);
  // Who had it before is no part of this rollout.
  return generationsOf(
    ways.filter(({ beganAt, promotedAt = since }) => beganAt >= since || promotedAt >= since),
    most,
    canaryCount(pool.spec.rollout, targeted),
  );
}

/** As its agent tells it. When a trial began that is over follows from when it was over, and how long it was to be. */
function wayOf(member: Member, probationMs: Millis): TrialTimeline | undefined {
  const { kubeletNode, promotedAt, failedAt } = member;
  const { shown, takesPlace } = member.lifecycle;
  const node = member.node.name;
  if (shown === 'failed') {
    const at = fromTimestamp(failedAt);
    return at === undefined ? undefined : { node, beganAt: at, failedAt: at };
  }
  const trialMs = parseDuration(kubeletNode?.spec?.trial?.duration ?? '') ?? 0;
  if (shown === 'settled' || shown === 'soaking') {
    if (promotedAt === undefined) return undefined;
    const beganAt = promotedAt - trialMs;
    return { node, beganAt, passedAt: Math.min(promotedAt, beganAt + probationMs), promotedAt };
  }
  const beganAt = fromTimestamp(kubeletNode?.status?.trial?.since);
  if (shown !== 'updating' || beganAt === undefined) return undefined;
  return takesPlace ? { node, beganAt } : { node, beganAt, passedAt: beganAt + probationMs };
}
