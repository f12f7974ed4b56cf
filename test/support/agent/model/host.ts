import type { Millis } from '#shared/runtime/clock.ts';

/** What a kubelet makes of a config. `refused`: validation finds it out before the kubelet sees it. */
export type Fate = 'good' | 'dies' | 'hangs' | 'flaps' | 'shadowed' | 'refused';

/** The machine, its clocks and what is wrong with it now. Everything else of the model lives on it. */
export interface Host {
  /** Monotonic, since ever: reboots do not set it back. */
  now: Millis;
  /** How far somebody has set the wall clock. */
  wallShiftMs: Millis;
  boots: number;
  bootedAt: Millis;
  isApiAway: boolean;
  /** How many files can still be written. */
  room: number;
  readonly isDiskFull: () => boolean;
  /** The container runtime is down: no kubelet is healthy, whatever its config. */
  isRuntimeDown: boolean;
  /** How often the guard cannot be armed from now on. */
  armFaults: number;
  /** How often the service manager takes no order from now on. */
  restartFaults: number;
  /** How many orders it has not taken. */
  refusedRestarts: number;
  /** How often the agent was killed, perhaps in the middle of something. */
  deaths: number;
  /** Says that something really happened. */
  readonly count: (what: Happening) => void;
}

/** Everything that has to happen at all in a run of the model test, or it proves nothing. */
export const HAPPENINGS = [
  'assignment of a good config',
  'assignment of a refused config',
  'assignment of a config that the kubelet dies of',
  'assignment of a config that the kubelet hangs with',
  'assignment of a config that the kubelet flaps with',
  'assignment of a config that a flag shadows',
  'config source made again',
  'assignment that cannot be read',
  'unassignment',
  'kubelet crash',
  'kubelet restarted by hand',
  'kubelet stopped by hand',
  'kubelet that waits for a server',
  'kubelet given up by the service manager',
  'reboot',
  'reboot in a trial',
  'API server lost',
  'wall clock set an hour on',
  'wall clock set an hour back',
  'save that failed',
  'save that failed half-way',
  'installation that failed',
  'payload that could not be kept',
  'checkpoint lost',
  'record damaged',
  'guard not armed',
  'guard half armed',
  'guard fired for too many starts',
  'guard fired for silence',
  'guard fired for a kubelet that is down',
  'guard fired for boots that were lost',
  'restart not taken',
  'container runtime down',
  'managed file changed by somebody else',
  'local config provisioned again',
  'agent killed between two turns',
  'agent killed in mid-save',
  'agent killed between two actions',
  'agent away for long',
  'trial that nobody watched begun again',
  'trial promoted',
  'trial taken back',
  'lastKnownGood failed too',
  'drift repaired',
  'trial over a new base',
  'turn granted',
  'broken node',
  'kubelet that was down started',
  'uninstall',
  'everything of ours taken away',
] as const;
export type Happening = (typeof HAPPENINGS)[number];

export function createHost(count: Host['count']): Host {
  const host: Host = {
    now: 0,
    wallShiftMs: 0,
    boots: 1,
    bootedAt: -3_600_000,
    isApiAway: false,
    room: Infinity,
    isDiskFull: () => host.room <= 0,
    isRuntimeDown: false,
    armFaults: 0,
    restartFaults: 0,
    refusedRestarts: 0,
    deaths: 0,
    count,
  };
  return host;
}
