import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { apply, type ApplyPorts } from './cluster/apply.ts';
import type { Blockers } from './cluster/blockers/blockers.ts';
import type { Queries } from './cluster/blockers/queries.ts';
import { createOtherNames } from './cluster/other-names.ts';
import { createStandBack } from './cluster/stand-back.ts';
import type { Futile } from './cluster/written/futile.ts';
import { poolsToAsk } from './policy/blockers.ts';
import { type Desired, desiredState } from './policy/desired.ts';
import type { JudgePool } from './policy/repo/judge-pool.ts';
import type { Fleet, LeftOut } from './policy/fleet.ts';
import type { CommitStatuses } from './telling/forge/statuses.ts';
import { isolate, touches, withUnwritable } from './policy/isolate.ts';
import { type Plan, plan } from './policy/plan.ts';
import { type PastCommit, writeHistory } from './telling/report/commit-history.ts';
import { displacedNotes, writeNotes } from './telling/report/displaced.ts';
import { conflictLines, conflictsAmong } from './policy/assign/conflict-lines.ts';
import {
  type CommitNote,
  isFinal,
  nextNote,
  noteInForce,
  type SaidLimits,
  noteRefused,
} from './telling/report/note.ts';
import type { Notes } from './telling/report/notes.ts';
import { createHeldPools } from './telling/report/held-pools.ts';
import { createSayings } from './telling/report/sayings.ts';
import type { SourceRecord } from './telling/report/record.ts';
import { commitsOf } from './telling/report/recorded-commits.ts';
import { writeFindings } from './telling/report/recorded-findings.ts';
import type { SourceState } from './telling/report/source-state.ts';
import { writeUnreadable } from './telling/report/unreadable-notes.ts';
import { createStatusPace } from './telling/report/status-pace.ts';
import { policyOf, recordedPolicy } from './policy/cluster-policy.ts';
import type { Onlooker } from './telling/round.ts';
import { type ClockReading, jumpBetween, putForward } from './policy/sights/own-clock.ts';
import { queriesToAsk } from './policy/rollout/queries-to-ask.ts';
import { inOwnTime } from './policy/sights/own-time.ts';
import { type Sights, sightsOf, withLeftOut } from './policy/sights/sights.ts';
import type { PlanSettings } from './policy/steps.ts';
import type { Branch } from './branch.ts';
import { limitsOf, writeLimits } from './policy/limits.ts';
import type { JudgedSnapshot } from './policy/commit.ts';
import type { TakenUp, TakeUps } from './policy/in-force/take-up.ts';

export interface PassPorts extends Omit<ApplyPorts, 'namespace' | 'answered' | 'standBack' | 'otherNames'> {
  readonly clock: Clock;
  readonly cluster: string;
  readonly settings: PlanSettings;
  /** null until everything was seen once. */
  readonly fleet: () => Fleet | null;
  /** How far the clock is ahead of that of whoever led before; see `OwnTime`. */
  readonly ahead: () => Millis;
  readonly branch: Branch;
  readonly repository: { readonly url: string; readonly branch: string };
  readonly takeUps: TakeUps;
  readonly judge: JudgePool;
  readonly record: SourceRecord;
  readonly blockers: Blockers;
  readonly queries: Queries;
  readonly futile: Futile;
  /** How old the counts in a pool's status may become. Default: they are written whenever they change. */
  readonly statusEveryMs?: Millis | undefined;
  /** null where notes are switched off. */
  readonly notes: Notes | null;
  /** null where statuses on the forge are switched off. */
  readonly statuses: CommitStatuses | null;
  readonly onlooker?: Pick<Onlooker, 'round'>;
}

/** One round of observe, plan, apply, report. */
export type Pass = (signal: AbortSignal) => Promise<Passed>;

export interface Passed {
  /** There was something to look at. */
  readonly looked: boolean;
  /** How long the API server asked to be left alone. */
  readonly waitMs: Millis;
}

export function createPass(ports: PassPorts): Pass {
  const { log, clock, cluster, settings, notes } = ports;
  const said = createSayings(log);
  const statusPace = createStatusPace(clock, ports.statusEveryMs ?? 0);
  const standBack = createStandBack(clock);
  const heldPools = createHeldPools(clock);
  const otherNames = createOtherNames();
  let lastNote: CommitNote | null = null;
  let sights: Sights | null = null;
  let clocks: ClockReading | null = null;
  const answered: ApplyPorts['answered'] = (step, object) => {
    heldPools.answered(step);
    ports.futile.answered(step, object);
  };

  return async (signal) => {
    const everything = ports.fleet();
    if (everything === null) return { looked: false, waitMs: 0 };
    const recorded = await ports.record.load(signal);
    const { tip, readAt, failure } = ports.branch.view();

    const policy = recordedPolicy(recorded.policy, hasPools(everything));
    const wantedOf = ({ inForce, refused }: TakenUp, fleet: Fleet): Desired => ({
      ...desiredState(inForce, fleet, ports.judge, policy, ports.takeUps.known()),
      ...(refused === null ? {} : { refused: refused.message }),
    });
    const commits = commitsOf(recorded, { ...ports.repository, cluster });
    const wanted = isolate(everything, (fleet) => {
      const taken = ports.takeUps.consider(tip, fleet, commits);
      const desired = wantedOf(taken, fleet);
      return { taken, desired, asked: poolsToAsk(desired, fleet), queried: queriesToAsk(desired, fleet) };
    });
    const { taken, asked, queried } = wanted.result;
    ports.takeUps.keep(taken, wanted.result.desired);
    said.commit(taken, tip?.commit.subject ?? '');

    ports.drains.keepOnly(everything.nodes);
    const [blockers, queries] = await Promise.all([
      ports.blockers.ask(asked, signal),
      ports.queries.ask(queried, signal),
    ]);
    const signals = { blockers, queries, drains: ports.drains.views(), pods: ports.drains.counts() };
    const now = clock.now();
    const reading = { wall: now, monotonic: clock.monotonic() };
    const jump = jumpBetween(clocks, reading);
    clocks = reading;
    if (jump !== 0) log.warn({ forwardMs: jump }, 'clock set: what has lasted is counted on');
    sights = sights === null ? null : putForward(sights, jump);
    const decided = isolate(wanted.fleet, (left) => {
      const known = left === wanted.fleet;
      // What is kept of a pool is in what is wanted, too: it goes with its pool.
      const desired = known ? wanted.result.desired : wantedOf(taken, left);
      const seen = sightsOf(sights, desired, left, now, ports.ahead());
      return { desired, seen, planned: plan(desired, inOwnTime(left, seen), settings, now, signals) };
    });
    const { desired, planned, seen } = decided.result;
    const { fleet } = decided;
    const { unreadable = [] } = fleet;
    sights = withLeftOut(seen, sights, everything);
    said.findings(desired);
    const held = (): readonly LeftOut[] => withUnwritable(unreadable, standBack.unreadable(), everything);
    said.unreadable(held());
    said.phases(planned.pools);
    const { labelLoss, untouchable } = planned.nodes;
    const leftAlone = [...(labelLoss === null ? [] : [labelLoss]), ...conflictLines(conflictsAmong(untouchable))];
    said.conflicts(leftAlone);
    const limits = taken.inForce?.repo.cluster;
    const lastWords = sayable(desired, planned, recorded, fleet, { limits, leftAlone });
    // Once the first node hears of a commit, nobody can tell any more how far the one before had come.
    const displaced = writeNotes(lastWords.displaced, notes);
    if (displaced !== recorded.displaced && displaced !== '' && ports.mayWrite()) {
      await ports.record.save({ ...recorded, displaced }, signal);
    }
    const steps = planned.steps.filter((step) => !touches(step, unreadable, desired.pools));
    standBack.planned(steps);
    const applied = await apply(
      [...statusPace.due(ports.futile.due(steps)), ...heldPools.due(held())],
      { ...ports, namespace: settings.namespace, answered, standBack, otherNames },
      signal,
    );

    const refused = taken.refused === null ? [] : [noteRefused(cluster, taken.refused.commit, taken.refused.message)];
    for (const note of [
      ...refused,
      ...lastWords.displaced,
      ...(lastWords.present === null ? [] : [lastWords.present]),
    ]) {
      telling(() => {
        notes?.want(note);
        ports.statuses?.want(note);
      });
    }
    const source = stateNow(recorded, taken, { desired, leftAlone, failure, tip, lastWords });
    const { waitMs } = applied;
    if (ports.mayWrite() && waitMs === undefined) await ports.record.save(source, signal);
    telling(() => {
      const at = clock.now();
      const seen = { fleet, desired, planned, applied, source, unreadable: held(), lost: ports.futile.lost() };
      ports.onlooker?.round({ ...seen, tip: tip?.commit ?? null, readAt, at });
    });
    return { looked: true, waitMs: waitMs ?? 0 };
  };

  /** Nothing is held up because it cannot be told. */
  function telling(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      said.untold(error);
    }
  }

  /** Where a pool's status cannot be put into words, its commit is said to be displaced, without it. */
  function sayable(...[desired, planned, recorded, fleet, more]: Parameters<typeof lastWordsOf>): LastWords {
    try {
      return lastWordsOf(desired, planned, recorded, fleet, more);
    } catch (error) {
      said.untold(error);
      const { commit } = desired;
      const facts = { recorded, last: null, cluster, fleet: { ...fleet, pools: new Map() } };
      return { present: null, displaced: commit === null ? [] : displacedNotes({ ...facts, commit }) };
    }
  }

  /** What is to be said of the commit in force, and of those that it displaced. */
  function lastWordsOf(
    desired: Desired,
    { pools }: Plan,
    recorded: SourceState,
    fleet: Fleet,
    { limits, leftAlone }: { readonly limits: SaidLimits | undefined; readonly leftAlone: readonly string[] },
  ): LastWords {
    if (desired.commit === null) return { present: null, displaced: [] };
    const displaced = displacedNotes({ recorded, last: lastNote, commit: desired.commit, cluster, fleet });
    const now = noteInForce(cluster, desired.commit, desired, pools, limits, leftAlone);
    const done = recorded.commit === desired.commit && recorded.outcome !== '';
    const present = nextNote(lastNote, now, done);
    lastNote = present ?? lastNote;
    return { present, displaced };
  }

  function stateNow(recorded: SourceState, { inForce, refused }: TakenUp, seen: Seen): SourceState {
    const { desired, leftAlone, failure, tip, lastWords } = seen;
    const fresh = inForce !== null && inForce.oid !== recorded.commit && tip?.commit.oid === inForce.oid;
    const state = notes?.state() ?? { notes: 'off' as const, because: 'switched off' };
    const statuses = ports.statuses?.state() ?? { statuses: 'off' as const, because: 'switched off' };
    const { present, displaced } = lastWords;
    const said = present !== null && isFinal(present) && notes?.stands(present) === true;
    const at = toTimestamp(clock.now());
    const described = { ...recorded, ...(fresh ? describeCommit(tip, at) : {}) };
    return {
      ...described,
      ...ports.repository,
      cluster,
      history: writeHistory(recorded.history, newsOf(described, present, refused, tip, at)),
      outcome: present === null ? recorded.outcome : said ? present.outcome : '',
      displaced: writeNotes(displaced, notes),
      refusedCommit: refused?.commit ?? '',
      refusedReason: refused?.reason ?? '',
      refusedBecause: refused?.message ?? '',
      failingSince: failure?.since ?? '',
      failure: failure === null ? '' : `${failure.code}: ${failure.message}`,
      notes: state.notes === 'on' ? 'on' : `off: ${state.because}`,
      unreadableNotes: writeUnreadable(notes?.unreadable() ?? []),
      statuses: statuses.statuses === 'on' ? 'on' : `off: ${statuses.because}`,
      policy: JSON.stringify(policyOf(desired.policy)),
      limits: inForce === null ? recorded.limits : writeLimits(limitsOf(inForce.repo.cluster), inForce.fieldsBefore),
      findings: writeFindings(desired.findings, leftAlone),
    };
  }
}

const hasPools = ({ pools, unreadable = [] }: Fleet): boolean =>
  pools.size > 0 || unreadable.some(({ of }) => of === 'pool');

interface LastWords {
  /** null before any commit is in force. */
  readonly present: CommitNote | null;
  readonly displaced: readonly CommitNote[];
}

/** What a pass has found out, as far as the record tells of it. */
interface Seen {
  readonly desired: Desired;
  readonly leftAlone: readonly string[];
  readonly failure: ReturnType<Branch['view']>['failure'];
  readonly tip: ReturnType<Branch['view']>['tip'];
  readonly lastWords: LastWords;
}

function describeCommit(
  { commit, signature }: JudgedSnapshot,
  takenUpAt: string,
): Pick<SourceState, 'commit' | 'subject' | 'author' | 'takenUpAt' | 'signedBy'> {
  const signedBy = signature.verdict === 'trusted' ? `${signature.signer} (${signature.key})` : '';
  return { commit: commit.oid, subject: commit.subject, author: commit.author.name, takenUpAt, signedBy };
}

/** What is to be remembered of the commit in force, and of a newer one that was refused. */
function newsOf(
  { commit, subject, author, takenUpAt }: SourceState,
  present: CommitNote | null,
  refused: TakenUp['refused'],
  tip: Seen['tip'],
  now: string,
): readonly PastCommit[] {
  const inForce =
    present === null || commit !== present.commit
      ? []
      : [{ oid: commit, subject, author, at: takenUpAt, outcome: present.outcome }];
  if (refused === null || tip?.commit.oid !== refused.commit) return inForce;
  const { oid, subject: title, author: by } = tip.commit;
  return [...inForce, { oid, subject: title, author: by.name, at: now, outcome: 'refused' }];
}
