import type { KubeletSource, KubeletSourceStatus } from '#shared/contract/api/kubelet-source.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { apply, type ApplyPorts } from './cluster/apply.ts';
import type { BlockerChecks } from './cluster/blockers/blocker-checks.ts';
import type { CanaryQueries } from './cluster/blockers/canary-queries.ts';
import { createFallbackNames } from './cluster/fallback-names.ts';
import { createFailedWrites } from './cluster/failed-writes.ts';
import type { IneffectiveWrites } from './cluster/write-cache/ineffective-writes.ts';
import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import { blockersQueries } from './policy/pool-blockers.ts';
import { type Desired, desiredState } from './policy/desired.ts';
import type { Commit, CommitOid } from './policy/commit-snapshot.ts';
import type { JudgePool } from './policy/config-repo/judge-pool.ts';
import type { Fleet, UnreadableObject } from './policy/fleet.ts';
import { skipUnreadable, touchesUnreadable, withUnwritable } from './policy/skip-unreadable.ts';
import { plan } from './policy/plan.ts';
import { formatDisplacedNotes } from './reporting/notes/displaced-notes.ts';
import { createDueNotes } from './reporting/notes/due-notes.ts';
import { formatConflicts, conflictsAmong } from './policy/pool-selection/conflict-lines.ts';
import { nextRecord } from './reporting/notes/next-record.ts';
import { createUnreadablePools } from './reporting/pool-status/unreadable-pools.ts';
import { createChangeLogger } from './reporting/change-logger.ts';
import { type SourceState, writeSourceState } from './reporting/notes/source-state.ts';
import {
  followingWith,
  isRefusalStanding,
  mayBeReleased,
  readingMark,
  recordedCommitsOf,
  withRelease,
} from './reporting/notes/recorded-commits.ts';
import type { SourceRecord } from './reporting/source/source-record.ts';
import { sourceStatus } from './reporting/source/source-status.ts';
import { createPoolStatusRateLimit } from './reporting/pool-status/pool-status-rate-limit.ts';
import { recordedPolicy } from './policy/cluster-policy.ts';
import { commitReference } from './policy/commit-reference.ts';
import type { PassObserver } from './reporting/pass-result.ts';
import { type ClockReading, clockJump, shiftTimes } from './policy/first-seen/clock-jump.ts';
import { withLimitsInForce } from './policy/pool-limits/held-limits.ts';
import { createOwnRecords } from './policy/proof/own-records.ts';
import { commitsToRender } from './policy/rollout/commits-to-render.ts';
import { queriesToAsk } from './policy/rollout/queries-to-ask.ts';
import { withoutClockSkew } from './policy/first-seen/clock-skew.ts';
import { type FirstSeenTimes, firstSeenTimes, withUnreadableNodes } from './policy/first-seen/first-seen-times.ts';
import type { PlanSettings } from './policy/steps.ts';
import type { Branch } from './branch.ts';
import { createPassReports, type ReportPorts } from './pass-reports.ts';
import { awaitedIn } from './policy/following/counterparts.ts';
import { readFollowing } from './policy/following/record.ts';
import { provenIn } from './policy/following/payload-proofs.ts';
import type { Following } from './following.ts';
import type { EarlierRenderings } from './earlier-renderings.ts';
import type { CommitDecision, AcceptedCommits } from './policy/commit-admission/accepted-commits.ts';

interface PassPorts extends Omit<ApplyPorts, 'namespace' | 'answered' | 'failedWrites' | 'otherNames'>, ReportPorts {
  readonly settings: PlanSettings;
  /** null until everything was seen once. */
  readonly fleet: () => Fleet | null;
  /** How far the clock is ahead of that of the leader before; see `LocalTime`. */
  readonly ahead: () => Millis;
  readonly branch: Pick<Branch, 'view'>;
  readonly repository: { readonly url: string; readonly branch: string };
  /** The folder that is followed; '' for the whole repository. */
  readonly path: string;
  readonly takeUps: AcceptedCommits;
  readonly following: Pick<Following, 'record'>;
  /** Begins to read the commit that `takeUps` waits for; called once the record says so. Absent: it never waits. */
  readonly startReading?: ((signal: AbortSignal) => void) | undefined;
  readonly judge: JudgePool;
  readonly record: SourceRecord;
  readonly blockers: BlockerChecks;
  readonly queries: CanaryQueries;
  readonly renderings: EarlierRenderings;
  readonly ineffectiveWrites: IneffectiveWrites;
  /** How old the counts in a pool's status may become. Default: they are written whenever they change. */
  readonly statusEveryMs?: Millis | undefined;
  readonly observer?: Pick<PassObserver, 'round'>;
}

/** One round of observe, plan, apply, report. */
export type Pass = (signal: AbortSignal) => Promise<PassOutcome>;

interface PassOutcome {
  /** There was something to look at. */
  readonly ran: boolean;
  /** How long the API server asked to be left alone. */
  readonly waitMs: Millis;
}

export function createPass(ports: PassPorts): Pass {
  const { log, clock, cluster, settings, notes } = ports;
  const said = createChangeLogger(log);
  const statusPace = createPoolStatusRateLimit(clock, ports.statusEveryMs ?? 0);
  const failedWrites = createFailedWrites(clock);
  const heldPools = createUnreadablePools(clock);
  const otherNames = createFallbackNames();
  const records = createOwnRecords();
  /** A report that fails holds nothing up. */
  const telling = (tell: () => void): void => {
    try {
      tell();
    } catch (error) {
      said.reportingFailed(error);
    }
  };
  const reports = createPassReports(ports, telling);
  const dueNotes = createDueNotes(cluster, (error) => said.reportingFailed(error));
  const here = { ...ports.repository, cluster };
  let sights: FirstSeenTimes | null = null;
  let clocks: ClockReading | null = null;
  /** What the process before was reading when it ended. */
  let leftBehind: string | undefined;
  const answered: ApplyPorts['answered'] = (step, object) => {
    heldPools.answered(step);
    records.answered(step, object);
    ports.ineffectiveWrites.answered(step, object);
  };

  return async (signal) => {
    const everything = ports.fleet();
    if (everything === null) return { ran: false, waitMs: 0 };
    const found = await ports.record.load(signal);
    leftBehind ??= found.reading;
    const recorded = mayBeReleased(found) ? withRelease(found, await ports.record.release(signal)) : found;
    if (recorded !== found) leftBehind = '';
    const { tip, readAt, failure } = ports.branch.view();
    const chosen = ports.following.record();
    const chosenBy = chosen ?? recorded.following;

    const policy = recordedPolicy(recorded.policy, hasPools(everything));
    const wantedOf = ({ inForce, refused }: CommitDecision, fleet: Fleet): Desired => ({
      ...withLimitsInForce(
        desiredState(inForce, fleet, ports.judge, policy, ports.takeUps.known()),
        fleet,
        ports.takeUps.known(),
        records.all(),
      ),
      ...(refused === null ? {} : { refused: refused.message }),
      ...(inForce === null ? {} : { by: aboutCommit(inForce.oid, tip?.commit ?? null, recorded) }),
    });
    const commits = {
      ...recordedCommitsOf(recorded, here, leftBehind),
      isRefusalStanding: isRefusalStanding(chosen, recorded),
    };
    const wanted = skipUnreadable(everything, (fleet) => {
      const taken = ports.takeUps.consider(tip, fleet, commits);
      const desired = wantedOf(taken, fleet);
      const questions = {
        asked: blockersQueries(desired, fleet),
        queried: queriesToAsk(desired, fleet),
        // What no revert waits for is read of a server that answers.
        recordings: commitsToRender(desired, fleet).filter(({ isAwaited }) => isAwaited || failure === null),
      };
      return { taken, desired, ...questions };
    });
    const { taken, asked, queried, recordings } = wanted.result;
    ports.takeUps.keep(taken, wanted.result.desired);
    said.commit(taken, tip?.commit.subject ?? '');

    ports.drains.keepOnly(everything.nodes);
    const { commit } = wanted.result.desired;
    const inForce = { commit, isRewritten: tip?.lineage === 'rewritten' && tip.commit.oid === commit };
    const [blockers, queries, rendered] = await Promise.all([
      ports.blockers.ask(asked, signal),
      ports.queries.ask(queried, signal),
      ports.renderings.ask(recordings, inForce, wanted.fleet, signal),
    ]);
    const limits = taken.inForce?.repo.cluster;
    const following = followingWith(limits, recorded, chosenBy);
    const signals = {
      blockers,
      queries,
      rendered,
      drains: ports.drains.views(),
      pods: ports.drains.counts(),
      records: records.all(),
      unwritten: failedWrites.failing(),
      awaited: awaitedIn(readFollowing(following)?.counterparts ?? null),
    };
    const now = readClock();

    const decided = skipUnreadable(wanted.fleet, (left) => {
      const known = left === wanted.fleet;
      // What is kept of a pool is in what is wanted, too: it goes with its pool.
      const desired = known ? wanted.result.desired : wantedOf(taken, left);
      const seen = firstSeenTimes(sights, desired, left, now, ports.ahead());
      return { desired, seen, planned: plan(desired, withoutClockSkew(left, seen), settings, now, signals) };
    });
    const { desired, planned, seen } = decided.result;
    const { fleet } = decided;
    const { unreadable = [] } = fleet;
    records.adopt(desired, fleet.pools, planned.pools);
    sights = withUnreadableNodes(seen, sights, everything);

    said.findings(desired);
    const held = (): readonly UnreadableObject[] => withUnwritable(unreadable, failedWrites.unreadable(), everything);
    said.unreadable(held());
    said.phases(planned.pools);
    const { labelLoss, skipped } = planned.nodes;
    const leftAlone = [...(labelLoss === null ? [] : [labelLoss]), ...formatConflicts(conflictsAmong(skipped))];
    said.conflicts(leftAlone);
    // Also where the commit ends the following.
    const letThrough = readFollowing(chosenBy)?.released ?? null;
    const due = dueNotes({ letThrough, recorded, desired, statuses: planned.pools, fleet, limits, leftAlone });
    // Once the first node hears of a commit, how far the one before had come is no longer known.
    const displaced = formatDisplacedNotes(due.displaced, notes);
    if (displaced !== recorded.displaced && displaced !== '' && ports.mayWrite()) {
      const known = writeSourceState({ ...recorded, displaced });
      await ports.record.save(({ status }) => ({ ...status, ...known }), signal);
    }

    const steps = planned.steps.filter((step) => !touchesUnreadable(step, unreadable, desired.pools));
    failedWrites.planned(steps);
    const applied = await apply(
      [...statusPace.due(ports.ineffectiveWrites.due(steps)), ...heldPools.due(held())],
      { ...ports, namespace: settings.namespace, answered, failedWrites, otherNames },
      signal,
    );

    if (ports.mayWrite()) notes?.prove(provenIn(planned.pools));
    reports.want(taken.refused, due);
    const read = taken.reading === undefined ? taken : { ...taken, reading: readingMark(taken.reading, leftBehind) };
    const facts = {
      here,
      taken: read,
      tip,
      failure,
      desired,
      leftAlone,
      due,
      notes,
      ...reports.states(),
      following,
    };
    const source = reports.withTold(
      nextRecord(recorded, { ...facts, at: clock.now() }),
      everything,
      taken.inForce !== null,
    );
    const { waitMs } = applied;
    const told = { source, desired, tip: tip?.commit ?? null, readAt };
    // A process that has only just begun has nothing to add to what the one before said.
    const isNews = tip !== null || failure !== null || recorded.commit === '';
    const statusAfter = (present: KubeletSource): KubeletSourceStatus =>
      sourceStatus({ ...told, path: ports.path }, present, toTimestamp(clock.now()));
    const kubeletSource =
      isNews && ports.mayWrite() && waitMs === undefined ? await ports.record.save(statusAfter, signal) : null;
    if (taken.reading !== undefined && kubeletSource !== null) ports.startReading?.(signal);
    if (kubeletSource !== null) reports.saved(source.told);
    telling(() => {
      const at = clock.now();
      const seen = {
        ...told,
        fleet,
        planned,
        applied,
        kubeletSource,
        unreadable: held(),
        lost: ports.ineffectiveWrites.lost(),
      };
      ports.observer?.round({ ...seen, at });
    });
    return { ran: true, waitMs: waitMs ?? 0 };
  };

  /** Where the clock was set meanwhile, what has lasted since goes with it. */
  function readClock(): Millis {
    const reading = { wall: clock.now(), monotonic: clock.monotonic() };
    const jump = clockJump(clocks, reading);
    clocks = reading;
    if (jump !== 0) log.warn({ forwardMs: jump }, 'clock set: what has lasted is counted on');
    sights = sights === null ? null : shiftTimes(sights, jump);
    return reading.wall;
  }
}

/** By what was read, or by the record of it. */
function aboutCommit(oid: CommitOid, tip: Commit | null, { commit, subject, author }: SourceState): CommitReference {
  if (tip?.oid === oid) return commitReference(tip);
  return commit === oid
    ? commitReference({ oid, subject, author: { name: author, email: '', at: '' } })
    : { commit: oid };
}

const hasPools = ({ pools, unreadable = [] }: Fleet): boolean =>
  pools.size > 0 || unreadable.some(({ of }) => of === 'pool');
