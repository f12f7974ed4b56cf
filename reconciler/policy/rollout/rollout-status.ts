import type {
  AnalysisStatus,
  Halt,
  HoldSummary,
  KubeletPoolStatus,
  Released,
  RolloutStatus,
  SettledConfig,
  WaveStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { DesiredPool } from '../desired.ts';
import type { Cohort } from './cohort.ts';
import type { MemberDecision } from './decide-group.ts';
import type { Group, Member } from './membership.ts';
import { targetOf } from './membership.ts';
import { isLeftBehind } from './readiness.ts';
import type { OnTrial } from './on-trial.ts';
import { isRecordOfTarget, targetRecordOf, sameTarget } from './node-progress.ts';
import type { WaveProgress } from './wave-progress.ts';

/** What is remembered of a pool's rollout between two passes; everything else is seen again each time. */
export interface RolloutMemory {
  readonly halt: Halt | null;
  readonly released: Released | null;
  readonly settled: SettledConfig | null;
  readonly rollout: RolloutStatus | null;
}

/** How a rollout stands in this pass. */
export interface RolloutNow extends Pick<RolloutMemory, 'halt' | 'released'> {
  /** null where nobody begins. */
  readonly waves: WaveProgress | null;
  readonly cohort: Cohort;
  readonly analysis?: AnalysisStatus | undefined;
  readonly onTrial?: OnTrial | undefined;
}

/**
 * What the pool's status is to remember. The pool has settled on its payload when every wave is done and the comparison that it asks
 * for is over. What the nodes show in between, whoever can be asked just then, settles nothing.
 */
export function rememberRollout(
  group: Group,
  before: KubeletPoolStatus | undefined,
  { halt, released, waves, cohort, analysis, onTrial }: RolloutNow,
  now: Millis,
): RolloutMemory {
  const config = group.pool?.config ?? null;
  const target = targetOf(group.pool);
  const past = before?.rollout ?? null;
  const rolled = halt === null || past === null ? past : { ...past, waves: past.waves.map(stopped) };
  const known = { halt, released, settled: before?.settled ?? null, rollout: rolled };
  if (config === null || target === null || waves === null) return known;

  const at = toTimestamp(now);
  const isFinished = waves.current === null && cohort.members.length > 0 && (released !== null || isCompared(analysis));
  const last = past !== null && isRecordOfTarget(past, target) ? past : undefined;
  const finishedAt = last?.finishedAt ?? (isFinished ? at : undefined);
  const rollout: RolloutStatus = {
    configName: config.name,
    ...targetRecordOf(target),
    startedAt: last?.startedAt ?? at,
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(cohort.newest === 0 ? {} : { newest: toTimestamp(cohort.newest) }),
    ...(isFinished ? {} : sayOnTrial(onTrial)),
    waves: waves.waves,
    ...(analysis === undefined ? {} : { analysis }),
  };
  const isSettled = sameTarget(known.settled, target);
  const settled =
    isFinished && !isSettled
      ? { configName: config.name, sha256: config.sha256, apply: target.apply, at }
      : known.settled;
  const isOfIt = settled !== null && (isFinished || isSettled);
  return { halt, released, settled: isOfIt ? withClasses(settled, known.settled, group, now) : settled, rollout };
}

/** With a full probation the budget says it all. */
function sayOnTrial(onTrial: OnTrial | undefined): Pick<RolloutStatus, 'generation' | 'maxOnTrial' | 'onTrial'> {
  if (onTrial?.by !== 'maxOnTrial' || onTrial.allowed === Number.POSITIVE_INFINITY) return {};
  const { generation, allowed, names } = onTrial;
  return { generation, maxOnTrial: allowed, onTrial: names.length };
}

/** Most classes that a pool's record of what it settled on names. */
const MOST_CLASSES = 1000;

/**
 * With the classes of a template that have arrived by now: one that joined since settles when its own nodes have, and one that the
 * rollout ended without keeps what it had.
 */
function withClasses(
  settled: SettledConfig,
  before: SettledConfig | null,
  { pool, members }: Group,
  now: Millis,
): SettledConfig {
  const { classes } = pool ?? {};
  if (classes === undefined) return settled;
  const byClass = Map.groupBy(members, ({ node }) => classes.byNode.get(node.name));
  const present = new Set([...byClass.keys()].map((each) => each?.name));
  const had = before?.apply === settled.apply ? (before.classes ?? []) : [];
  const kept = before === settled ? had : had.filter(({ name }) => present.has(name));
  const named = new Map(kept.map((each) => [each.name, each]));
  for (const [each, nodes] of byClass) {
    if (each === undefined || each.config === null || !isProvenByClass(nodes, pool, now)) continue;
    const { name: configName, sha256 } = each.config;
    named.set(each.name, { name: each.name, configName, sha256 });
  }
  // An autoscaler takes the last machine of a kind away, and brings others of it back.
  const found = [...named.values()]
    .sort((a, b) => Number(present.has(b.name)) - Number(present.has(a.name)) || compare(a.name, b.name))
    .slice(0, MOST_CLASSES);
  return { ...settled, classes: found.sort((a, b) => compare(a.name, b.name)) };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A halted pool goes no further: what had begun and is not done stays so. */
const stopped = (wave: WaveStatus): WaveStatus =>
  wave.state === 'rolling' || wave.state === 'soaking' ? { ...wave, state: 'stopped' } : wave;

/** No comparison was asked for, or it found nothing worse, or not enough to compare in time. */
const isCompared = (analysis: AnalysisStatus | undefined): boolean =>
  analysis === undefined || analysis.verdict === 'pass' || analysis.verdict === 'unknown';

/** All of a class have proven its payload, but for nodes that a rollout ends without, and at least one has. */
function isProvenByClass(members: readonly Member[], pool: DesiredPool | null, now: Millis): boolean {
  const hasIt = ({ lifecycle }: Member): boolean => lifecycle.updated && !lifecycle.inChange;
  const isWithout = (member: Member): boolean =>
    member.lifecycle.failed || isLeftBehind(member, pool?.spec.rollout, now);
  return members.some(hasIt) && members.every((member) => hasIt(member) || isWithout(member));
}

const MOST_EXAMPLES = 5;

/** Why nodes wait, by reason, the one that holds most first. */
export function summariseHolds(decisions: readonly MemberDecision[]): readonly HoldSummary[] {
  const byReason = new Map<string, { readonly names: string[]; readonly message: string }>();
  for (const { member, verdict } of decisions) {
    if (verdict.verdict !== 'hold') continue;
    const known = byReason.get(verdict.hold) ?? { names: [], message: verdict.because };
    known.names.push(member.node.name);
    byReason.set(verdict.hold, known);
  }
  return [...byReason]
    .map(([reason, { names, message }]) => ({
      reason,
      nodes: names.length,
      examples: names.slice(0, MOST_EXAMPLES),
      message,
    }))
    .sort((a, b) => b.nodes - a.nodes || (a.reason < b.reason ? -1 : 1));
}
