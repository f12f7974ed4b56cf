import type { GuardCause, GuardSeen } from '#agent/ports/guard.ts';
import { targetIdOf, trialIdOf } from '#agent/decide/guard.ts';
import type { Target, Trial } from '#agent/decide/state.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Files, ModelFiles } from './files.ts';
import { systemError } from '../system-error.ts';
import type { Happening, Host } from './host.ts';

/** The guard's script in model time: what it counts, and what it restores. */
export interface ModelGuard {
  readonly look: () => GuardSeen;
  /** @throws Error where it cannot */
  arm(trial: Trial, to: Target): void;
  /** The agent was killed in the middle of arming or disarming. */
  leaveHalf(): void;
  disarm(): void;
  signOfLife(): void;
  beforeStart(): void;
  reboot(): void;
  readonly dueAt: () => Millis;
  tick(): void;
}

interface Armed {
  readonly guard: 'armed';
  readonly trial: string;
  readonly to: string;
  readonly restore: Files;
  readonly maxStarts: number;
  readonly silenceMs: Millis;
}
type Standing = Exclude<GuardSeen, { readonly guard: 'armed' }> | Armed;

const TICK_MS = 15_000;
const SHORT_SILENCE_MS = 60_000;
/** The ordered start, and one to spare. */
const MORE_STARTS = 2;

const FIRED: Readonly<Record<Exclude<GuardCause, 'unknown'>, Happening>> = {
  starts: 'guard fired for too many starts',
  silence: 'guard fired for silence',
  down: 'guard fired for a kubelet that is down',
};

export interface GuardOptions {
  readonly host: Host;
  readonly files: ModelFiles;
  readonly isThere: boolean;
  readonly isKubeletDown: () => boolean;
  readonly restartKubelet: () => void;
  readonly at: () => string;
}

export function createModelGuard(options: GuardOptions): ModelGuard {
  const { host, files, isThere, isKubeletDown, restartKubelet, at } = options;
  let now: Standing = isThere ? { guard: 'disarmed' } : { guard: 'none', why: 'there is none here' };
  /** Of this boot. */
  let starts = 0;
  let aliveAt: Millis = 0;
  let tickAt: Millis = Infinity;
  let isDoubted = false;

  const fire = (armed: Armed, cause: Exclude<GuardCause, 'unknown'>, restarted: boolean): void => {
    host.count(FIRED[cause]);
    files.put(armed.restore);
    const { trial, to } = armed;
    now = { guard: 'fired', trial, to, cause, at: at(), starts, restarted };
  };
  const causeNow = (armed: Armed): 'silence' | 'down' | undefined => {
    const quietMs = host.now - Math.max(aliveAt, host.bootedAt);
    if (quietMs >= armed.silenceMs) return 'silence';
    return quietMs >= SHORT_SILENCE_MS && isKubeletDown() ? 'down' : undefined;
  };

  return {
    look: () => now,
    arm(trial, to) {
      if (!isThere) return;
      const [id, leadsTo] = [trialIdOf(trial), targetIdOf(to)];
      if (host.armFaults > 0 || host.isDiskFull()) {
        const isFull = host.isDiskFull() && host.armFaults === 0;
        host.armFaults = Math.max(0, host.armFaults - 1);
        // The one of the trial before stays where it leads to the same.
        if (now.guard !== 'armed' || now.trial === id || now.to !== leadsTo) now = { guard: 'disarmed' };
        host.count('guard not armed');
        throw isFull
          ? systemError('ENOSPC', 'open', '/var/lib/kubelet-gitops/guard/plan')
          : new Error('the unit directory is not mounted');
      }
      if (now.guard !== 'armed' || now.trial !== id || now.to !== leadsTo) starts = 0;
      const { maxRestarts, durationMs, startTimeoutMs } = trial.config.trial;
      const limits = { maxStarts: maxRestarts + MORE_STARTS, silenceMs: durationMs + startTimeoutMs };
      now = { guard: 'armed', trial: id, to: leadsTo, restore: files.asFor(to), ...limits };
      [aliveAt, isDoubted] = [host.now, false];
    },
    leaveHalf() {
      if (!isThere) return;
      host.count('guard half armed');
      // It acts on no plan that is not whole, and so on none.
      const restore = files.now();
      now = { guard: 'armed', trial: '', to: '', restore, maxStarts: Infinity, silenceMs: Infinity };
    },
    disarm() {
      if (!isThere) return;
      now = { guard: 'disarmed' };
      tickAt = Infinity;
    },
    signOfLife: () => {
      aliveAt = host.now;
    },
    beforeStart() {
      if (now.guard === 'fired') now = { ...now, restarted: true };
      if (now.guard !== 'armed') return;
      starts += 1;
      if (tickAt === Infinity) tickAt = host.now + TICK_MS;
      if (starts > now.maxStarts) fire(now, 'starts', true);
      else if (causeNow(now) === 'silence') fire(now, 'silence', true);
    },
    reboot() {
      [starts, tickAt, isDoubted] = [0, Infinity, false];
    },
    dueAt: () => tickAt,
    tick() {
      tickAt = host.now + TICK_MS;
      if (now.guard !== 'armed') {
        tickAt = Infinity;
        return;
      }
      const cause = causeNow(now);
      if (cause !== undefined && isDoubted) {
        fire(now, cause, true);
        restartKubelet();
      }
      isDoubted = cause !== undefined;
    },
  };
}
