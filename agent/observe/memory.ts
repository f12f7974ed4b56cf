import type { Millis } from '#shared/runtime/clock.ts';
import type { Failure } from '../decide/failure.ts';
import type { GuardFault } from '../ports/guard.ts';
import type { StageResult } from '../staging/stage.ts';
import type { Config } from '../decide/state.ts';

/** What this process knows of its own doings. Losing it costs nothing but time: nothing here is on disk. */
export interface Memory {
  staged: {
    readonly config: Config;
    readonly result: StageResult;
    /** Monotonic; when an `unavailable` one may be tried again. */
    readonly retryAt: Millis;
    /** How often in a row it was unavailable. */
    readonly faults: number;
  } | null;
  /** How the last restart that was ordered went. */
  restart: 'none' | 'done' | 'failed';
  /** How the kubelet last ended by itself since then: a service manager forgets it as soon as the next run begins. */
  lastExit: string | undefined;
  /** `retryAt`: monotonic. */
  guardFault: (Omit<GuardFault, 'retryInMs'> & { readonly retryAt: Millis }) | null;
  /** When drifted files were put back, monotonic, the oldest first. */
  repairs: readonly Millis[];
  /** Everything of ours was taken away. */
  left: boolean;
  /** What of an installation or a restart could not be carried out; null since the last that could. */
  fault: Failure | null;
}

export const emptyMemory = (): Memory => ({
  staged: null,
  restart: 'none',
  lastExit: undefined,
  guardFault: null,
  repairs: [],
  left: false,
  fault: null,
});
