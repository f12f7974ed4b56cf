import { backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import type { CommitNote } from '../notes/commit-note.ts';
import type { CallForge } from './forge-client.ts';
import { type CommitStatus, type PublishedBefore, statusesOf } from './commit-status.ts';
import { dueStatuses, type PublishedStatus } from './due-statuses.ts';
import { ForgeError, isForgeError } from './errors.ts';
import { type Forge, PAGE } from './forges.ts';

/** `off` says why, for status: a token without the right, say. */
type StatusesState = { readonly statuses: 'on' } | { readonly statuses: 'off'; readonly because: string };

/** Keeps the statuses of commits on their forge as they are wanted. Never in the way of anything else. */
export interface ForgeStatusWriter {
  /**
   * What is to be said of the note's commit from now on. Cheap; what stands there already is not posted again.
   *
   * @param onlyFirst statuses that stand on the commit already stay
   */
  want(note: CommitNote, onlyFirst?: boolean): void;
  state(): StatusesState;
  run(signal: AbortSignal): Promise<void>;
  /** One last try, for a shutdown. */
  flush(signal: AbortSignal): Promise<void>;
}

interface ForgeStatusWriterOptions {
  readonly forge: Forge;
  readonly ask: CallForge;
  /** Read before every round, so that `forge` has the token as it is now. */
  readonly refresh: () => Promise<void>;
  /** Page that a status leads to. */
  readonly link: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  /** Hears when `state()` changed. */
  readonly onChange: () => void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 10 * 60_000, jitter: 0.2 };
/** Statuses of older commits are of no interest any more. */
const MOST_COMMITS = 20;
const MOST_PAGES = 10;
/** Between two rounds: a burst of passes makes one. */
const REST_MS = 1_000;
const IDLE_MS = 10 * 60_000;
const NEVER = new AbortController().signal;

interface Told {
  note: CommitNote;
  onlyFirst: boolean;
  /** null until the forge was asked what stands there: a restart must not repeat what was said. */
  standing: Map<string, PublishedStatus> | null;
}

export function createForgeStatusWriter(options: ForgeStatusWriterOptions): ForgeStatusWriter {
  const { forge, ask, clock, log, random, link } = options;
  const commits = new Map<CommitOid, Told>();
  const wakeUps = createWakeUps(clock);
  let state: StatusesState = { statuses: 'on' };
  let faults = 0;

  const enter = (next: StatusesState): void => {
    const changed = next.statuses !== state.statuses;
    state = next;
    if (changed) options.onChange();
  };

  async function learn(commit: CommitOid, signal: AbortSignal): Promise<Map<string, PublishedStatus>> {
    const standing = new Map<string, PublishedStatus>();
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const found = forge.read(await ask(forge.list(commit, page), signal));
      if (found === undefined) throw new ForgeError('FORGE_UNREADABLE', 'the forge lists statuses in an unknown form');
      for (const { context, state: is, description } of found) {
        const stands = { state: is, description, at: Number.NEGATIVE_INFINITY, reposts: 0 };
        if (!standing.has(context)) standing.set(context, stands);
      }
      if (found.length < PAGE) break;
    }
    return standing;
  }

  async function post(commit: CommitOid, status: CommitStatus, told: Map<string, PublishedStatus>) {
    const before = told.get(status.context);
    const word = forge.word(status.state);
    const retold = before?.state === word ? before.reposts + 1 : 0;
    try {
      // Not broken off at the end of the program: whether it arrived would be unknown, and it would be posted twice.
      await ask(forge.post(commit, status, link), NEVER);
      log.info({ commit, context: status.context, state: status.state }, 'commit status posted');
    } catch (error) {
      // What the forge does not take now, it will not take the next time: only another status is tried.
      if (!isForgeError(error, 'FORGE_REFUSED')) throw error;
      const stood = forge.stands(error.message);
      if (!stood) log.warn({ commit, context: status.context, err: error }, 'commit status refused');
    }
    told.set(status.context, { state: word, description: status.description, at: clock.monotonic(), reposts: retold });
  }

  /** @returns when something is to be said of the commit next, monotonic */
  async function tell(commit: CommitOid, told: Told, signal: AbortSignal): Promise<Millis> {
    told.standing ??= await learn(commit, signal);
    if (told.onlyFirst && told.standing.size > 0) return Number.POSITIVE_INFINITY;
    const wanted = statusesOf(told.note, saidIn(told.standing, forge));
    const due = dueStatuses(wanted, told.standing, forge, clock.monotonic());
    for (const status of due.now) {
      signal.throwIfAborted();
      await post(commit, status, told.standing);
    }
    return due.next;
  }

  /** @returns when the next round is due, monotonic */
  async function round(signal: AbortSignal): Promise<Millis> {
    let next = Number.POSITIVE_INFINITY;
    let failure: ForgeError | null = null;
    if (commits.size > 0) await options.refresh();
    for (const [commit, told] of commits) {
      try {
        next = Math.min(next, await tell(commit, told, signal));
      } catch (error) {
        // It may be about this commit alone, which left the forge with a rewritten branch: the others are posted all the same.
        if (!isForgeError(error, 'FORGE_FORBIDDEN', 'FORGE_REFUSED')) throw error;
        failure ??= error;
      }
    }
    if (failure !== null) throw failure;
    return next;
  }

  /** @returns how long to stay away */
  async function attempt(signal: AbortSignal): Promise<Millis> {
    try {
      const next = await round(signal);
      faults = 0;
      enter({ statuses: 'on' });
      return Math.min(IDLE_MS, next - clock.monotonic());
    } catch (error) {
      if (signal.aborted) return 0;
      faults += 1;
      enter({ statuses: 'off', because: reasonOf(error) });
      log.warn({ code: codeOf(error), err: error }, 'commit statuses could not be posted');
      const waitMs = askedToWaitMs(error) ?? 0;
      await clock.sleep(Math.max(waitMs, backoffDelay(faults, BACKOFF, random())), signal);
      return 0;
    }
  }

  return {
    want(note, onlyFirst = false) {
      const told = commits.get(note.commit) ?? { note, onlyFirst, standing: null };
      Object.assign(told, { note, onlyFirst });
      setNewest(commits, note.commit, told, MOST_COMMITS);
      const { standing } = told;
      const now = clock.monotonic();
      if (standing === null) return wakeUps.poke();
      const wanted = statusesOf(note, saidIn(standing, forge));
      if (dueStatuses(wanted, standing, forge, now).now.length > 0) wakeUps.poke();
    },
    state: () => state,
    async run(signal) {
      while (!signal.aborted) {
        const pauseMs = await attempt(signal);
        await clock.sleep(REST_MS, signal);
        if (pauseMs > 0) await wakeUps.next(pauseMs, signal);
      }
    },
    async flush(signal) {
      await round(signal).catch(() => undefined);
    },
  };
}

function saidIn(standing: ReadonlyMap<string, PublishedStatus>, forge: Pick<Forge, 'word'>): PublishedBefore {
  const pending = [...standing].filter(([, { state }]) => state === forge.word('pending'));
  return { said: new Set(standing.keys()), pending: new Set(pending.map(([context]) => context)) };
}
