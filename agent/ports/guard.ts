import type { Millis } from '#shared/runtime/clock.ts';
import type { FileOwner } from './disk.ts';

/** A file as a fallback restores it; `bytes: null` removes it. */
export type GuardedFile =
  | { readonly path: string; readonly bytes: Buffer; readonly owner: FileOwner }
  | { readonly path: string; readonly bytes: null };

/** What the guard does without us, and when. */
export interface GuardOrder {
  /** Which trial it is armed for; see `trialIdOf`. */
  readonly trial: string;
  /** Where the way back leads; see `targetIdOf`. */
  readonly to: string;
  /**
   * Starts of the kubelet, the ordered one included, that one boot may see. The next one takes the trial back. Where the unit's own
   * program starts it again, those of the present run count, by its log.
   */
  readonly maxStarts: number;
  /** How long the agent may be silent, in seconds of the machine's uptime. */
  readonly silenceSeconds: number;
  /** In order. */
  readonly restore: readonly GuardedFile[];
  /** Properties of units to be set after that: `system.slice MemoryMax` → `infinity`. */
  readonly limits?: Readonly<Record<string, string>>;
  /**
   * Nothing is on trial: what was promoted is to be taken back where no agent comes up after a boot, or none lives on after a
   * start of the kubelet. The boot that it was promoted in.
   */
  readonly watch?: string;
}

/**
 * Why the guard took a trial back. `starts`: the kubelet was started too often. `silence`: no agent judged the trial
 * until the deadline. `down`: the kubelet was down for good and no agent was there to see it. `boots`: the machine ended
 * soon after each boot, before an agent was there. `unknown`: its note is lost.
 */
export type GuardCause = 'starts' | 'silence' | 'down' | 'boots' | 'unknown';

export type GuardSeen =
  /** There can be none on this node. */
  | {
      readonly guard: 'none';
      readonly why: string;
      /** And no config can be tried: the unit or the settings of the agent do not fit this kubelet. */
      readonly isUnfit?: boolean;
    }
  /** `boots`: of a config that was promoted, see `GuardOrder.watch`; absent without a watch on boots. */
  | { readonly guard: 'disarmed'; readonly boots?: GuardSeen }
  | {
      readonly guard: 'armed';
      readonly trial: string;
      readonly to: string;
      /** The kubelet was started since what is watched was promoted, and the guard waits for a sign of life. */
      readonly asks?: boolean;
      readonly boots?: GuardSeen;
    }
  | {
      readonly guard: 'fired';
      readonly trial: string;
      readonly to: string;
      readonly cause: GuardCause;
      /** By the machine's wall clock then, RFC 3339; for display. */
      readonly at: string | undefined;
      /** Starts of the kubelet that it counted, or boots for `boots`; 0 where that is lost. */
      readonly starts: number;
      /** The kubelet was started with the restored files, or that was ordered. */
      readonly restarted: boolean;
      /** See `GuardOrder.watch`. */
      readonly watch?: string;
    };

/** What keeps the guard from being made ready for one trial, and how often in a row it did. */
export interface GuardFault {
  readonly trial: string;
  readonly message: string;
  readonly tries: number;
  /** There is no room on the disk: that says nothing about the config, and ends when space is freed. */
  readonly isFull: boolean;
  /** Delay until the next try; zero or less allows it at once. */
  readonly retryInMs: Millis;
}

/**
 * The agent's deputy on the host: a shell script that takes a trial back when the agent cannot, be it dead, cut off, or
 * not started after a reboot. After a promotion it stays until an agent has come up after the next boot, and looks after every start of the kubelet.
 */
export interface Guard {
  /** Reads only. Never throws: what cannot be read is as good as not there. */
  look(): Promise<GuardSeen>;
  /** Makes it ready for this order, in place of any other. Safe to repeat. @throws GitopsError `GUARD_*` */
  arm(order: GuardOrder): Promise<void>;
  /** Takes it away with everything that belongs to it, its note included. Safe to repeat. @throws GitopsError `GUARD_*` */
  disarm(): Promise<void>;
  /** Tells the guard that an agent watches the trial. To be called at every look; writes seldom. @throws GitopsError `GUARD_*` */
  heartbeat(): Promise<void>;
}

/** For kubelets whose starts only the agent can follow. */
export const noGuard = (why: string): Guard => ({
  look: () => Promise.resolve({ guard: 'none', why }),
  arm: () => Promise.resolve(),
  disarm: () => Promise.resolve(),
  heartbeat: () => Promise.resolve(),
});
