import type { GuardCause, GuardOrder, GuardSeen } from '#agent/ports/guard.ts';
import type { GuardedTrial } from '#agent/decide/decision.ts';
import { guardLimitsOf, targetIdOf, trialIdOf } from '#agent/decide/trial-guard.ts';
import type { Target } from '#agent/decide/state.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Files, ModelFiles } from './files.ts';
import {
  type BootRecord,
  causeAtStart,
  causeAtTick,
  type GuardQuestion,
  isSpared,
  lostBoots,
  TICK_MS,
} from '../guard-rule.ts';
import { systemError } from '../system-error.ts';
import type { Happening, Host } from './host.ts';

/** The guard's script in model time: what it counts, and what it restores. */
export interface ModelGuard {
  readonly look: () => GuardSeen;
  /** @throws Error where it cannot */
  arm(trial: GuardedTrial, to: Target): void;
  /** The agent was killed in the middle of arming or disarming. */
  leaveHalf(): void;
  disarm(): void;
  heartbeat(): void;
  beforeStart(): void;
  reboot(): void;
  readonly dueAt: () => Millis;
  tick(): void;
}

interface Armed extends Pick<GuardOrder, 'trial' | 'to' | 'maxStarts' | 'silenceSeconds'> {
  readonly guard: 'armed';
  readonly restore: Files;
}
type Standing = Exclude<GuardSeen, { readonly guard: 'armed' }> | Armed;

const NO_BOOT: BootRecord = { boot: '', lost: 0, since: undefined };

const FIRED: Readonly<Record<Exclude<GuardCause, 'unknown'>, Happening>> = {
  starts: 'guard fired for too many starts',
  silence: 'guard fired for silence',
  down: 'guard fired for a kubelet that is down',
  boots: 'guard fired for boots that were lost',
};

export interface GuardOptions {
  readonly host: Host;
  readonly files: ModelFiles;
  readonly isThere: boolean;
  readonly isKubeletDown: () => boolean;
  /** A kubelet that a person stopped stays stopped. */
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
  /** The kubelet's last boot with what is armed, and the agent's last sign of life. */
  let record: BootRecord = NO_BOOT;
  let sign = { boot: '', age: 0 };

  const thisBoot = (): string => `boot-${host.boots}`;
  const age = (): number => Math.floor((host.now - host.bootedAt) / 1000);
  const isAlive = (): void => {
    [aliveAt, sign] = [host.now, { boot: thisBoot(), age: age() }];
  };

  const fire = (armed: Armed, cause: Exclude<GuardCause, 'unknown'>, restarted: boolean): void => {
    host.count(FIRED[cause]);
    files.put(armed.restore);
    const { trial, to } = armed;
    now = { guard: 'fired', trial, to, cause, at: at(), starts: cause === 'boots' ? record.lost : starts, restarted };
  };
  const asked = ({ maxStarts, silenceSeconds }: Armed): GuardQuestion => {
    const quietSeconds = (host.now - Math.max(aliveAt, host.bootedAt)) / 1000;
    return { maxStarts, silenceSeconds, quietSeconds, lost: record.lost };
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
      if (now.guard !== 'armed' || now.trial !== id || now.to !== leadsTo) [starts, record] = [0, NO_BOOT];
      const limits = guardLimitsOf(trial.config.trial);
      now = { guard: 'armed', trial: id, to: leadsTo, restore: files.asFor(to), ...limits };
      isDoubted = false;
      isAlive();
    },
    leaveHalf() {
      if (!isThere) return;
      host.count('guard half armed');
      // It acts on no plan that is not whole, and so on none.
      const restore = files.now();
      now = { guard: 'armed', trial: '', to: '', restore, maxStarts: Infinity, silenceSeconds: Infinity };
    },
    disarm() {
      if (!isThere) return;
      now = { guard: 'disarmed' };
      tickAt = Infinity;
    },
    heartbeat: isAlive,
    beforeStart() {
      if (now.guard === 'fired') now = { ...now, restarted: true };
      if (now.guard !== 'armed') return;
      starts += 1;
      const lost = lostBoots(record, thisBoot(), sign);
      if (record.boot !== thisBoot()) record = { boot: thisBoot(), lost, since: age() };
      if (tickAt === Infinity) tickAt = host.now + TICK_MS;
      const cause = causeAtStart(asked(now), starts);
      if (cause !== undefined) fire(now, cause, true);
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
      const { boot, lost, since } = record;
      if (boot === thisBoot() && since !== undefined && isSpared(since, age(), sign.boot === boot ? sign.age : 0))
        record = { boot, lost, since: undefined };
      const cause = causeAtTick(asked(now), isKubeletDown);
      if (cause !== undefined && isDoubted) {
        fire(now, cause, false);
        // Its start says that it was.
        restartKubelet();
      }
      isDoubted = cause !== undefined;
    },
  };
}
