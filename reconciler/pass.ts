import type { Clock, Millis } from '#shared/runtime/clock.ts';
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
import { plan } from './policy/plan.ts';
import { writeNotes } from './telling/report/displaced.ts';
import { createDueNotes, type DueNotes } from './telling/report/due-notes.ts';
import { conflictLines, conflictsAmong } from './policy/assign/conflict-lines.ts';
import { nextRecord } from './telling/report/next-record.ts';
import { noteRefused } from './telling/report/note.ts';
import type { Notes } from './telling/report/notes.ts';
import { createHeldPools } from './telling/report/held-pools.ts';
import { createSayings } from './telling/report/sayings.ts';
import type { SourceRecord } from './telling/report/record.ts';
import { commitsOf } from './telling/report/recorded-commits.ts';
import { createStatusPace } from './telling/report/status-pace.ts';
import { recordedPolicy } from './policy/cluster-policy.ts';
import type { Onlooker } from './telling/round.ts';
import { type ClockReading, jumpBetween, putForward } from './policy/sights/own-clock.ts';
import { queriesToAsk } from './policy/rollout/queries-to-ask.ts';
import { inOwnTime } from './policy/sights/own-time.ts';
import { type Sights, sightsOf, withLeftOut } from './policy/sights/sights.ts';
import type { PlanSettings } from './policy/steps.ts';
import type { Branch } from './branch.ts';
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
  const dueNotes = createDueNotes(cluster, (error) => said.untold(error));
  const here = { ...ports.repository, cluster };
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
    const commits = commitsOf(recorded, here);
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
    const now = readClock();

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
    const due = dueNotes({ recorded, desired, statuses: planned.pools, fleet, limits, leftAlone });
    // Once the first node hears of a commit, nobody can tell any more how far the one before had come.
    const displaced = writeNotes(due.displaced, notes);
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

    tellNotes(taken.refused, due);
    const found = { here, taken, tip, failure, desired, leftAlone, due, notes, statuses: statusesNow() };
    const source = nextRecord(recorded, { ...found, at: clock.now() });
    const { waitMs } = applied;
    if (ports.mayWrite() && waitMs === undefined) await ports.record.save(source, signal);
    telling(() => {
      const at = clock.now();
      const seen = { fleet, desired, planned, applied, source, unreadable: held(), lost: ports.futile.lost() };
      ports.onlooker?.round({ ...seen, tip: tip?.commit ?? null, readAt, at });
    });
    return { looked: true, waitMs: waitMs ?? 0 };
  };

  /** Where the clock was set meanwhile, what has lasted since goes with it. */
  function readClock(): Millis {
    const reading = { wall: clock.now(), monotonic: clock.monotonic() };
    const jump = jumpBetween(clocks, reading);
    clocks = reading;
    if (jump !== 0) log.warn({ forwardMs: jump }, 'clock set: what has lasted is counted on');
    sights = sights === null ? null : putForward(sights, jump);
    return reading.wall;
  }

  function tellNotes(refused: TakenUp['refused'], { displaced, present }: DueNotes): void {
    const ofRefused = refused === null ? [] : [noteRefused(cluster, refused.commit, refused.message)];
    for (const note of [...ofRefused, ...displaced, ...(present === null ? [] : [present])]) {
      telling(() => {
        notes?.want(note);
        ports.statuses?.want(note);
      });
    }
  }

  function statusesNow(): string {
    const state = ports.statuses?.state() ?? { statuses: 'off', because: 'switched off' };
    return state.statuses === 'on' ? 'on' : `off: ${state.because}`;
  }

  /** Nothing is held up because it cannot be told. */
  function telling(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      said.untold(error);
    }
  }
}

const hasPools = ({ pools, unreadable = [] }: Fleet): boolean =>
  pools.size > 0 || unreadable.some(({ of }) => of === 'pool');
