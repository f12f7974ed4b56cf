import type { Millis } from '#shared/runtime/clock.ts';
import type { Config, Reboot, State, Target, Trial } from './state.ts';

/**
 * How to end drift. `put-back`: write the files, which leaves the kubelet alone. `try-over`: try lastKnownGood over the
 * node's new own config. `start-again`: restart the kubelet with the files that are in place. Both need a turn. `none`:
 * the files are right and the kubelet read them (a flag may win over them), so a restart would not help.
 */
export type Remedy = 'put-back' | 'try-over' | 'start-again' | 'none';

/** What the shell has to do. Each action is safe to do twice: the agent can die before, in and after any of them. */
export type Action =
  /** Fetch, verify, checkpoint, validate and preflight; the result is in the next observation. Leaves the kubelet alone. */
  | { readonly do: 'stage'; readonly config: Config }
  /** The same for a config that is not assigned yet, so that its refusal costs no drain. */
  | { readonly do: 'check'; readonly config: Config; readonly retry: string }
  /** Check lastKnownGood again before drift is repaired; the result is in the next observation. Leaves the kubelet alone. */
  | { readonly do: 'recheck'; readonly config: Config; readonly remedy: Remedy }
  /** Make the managed files what the target needs. */
  | { readonly do: 'install'; readonly target: Target }
  /** The same for the config that runs already, because another writer changed its files. */
  | { readonly do: 'repair'; readonly target: Target }
  /** `target`: what the kubelet is to read at its start. */
  | { readonly do: 'restart-kubelet'; readonly because: string; readonly target: Target }
  /** Start a kubelet that is down; one that runs is left alone. `target`: what it is to read at its start. */
  | { readonly do: 'start-kubelet'; readonly because: string; readonly target: Target }
  /** Have the machine reboot. In another boot than the one named nothing is done. */
  | { readonly do: 'reboot'; readonly because: string; readonly reboot: Reboot }
  /** The reboot is no longer needed: stop it if it still can be stopped. */
  | { readonly do: 'withdraw-reboot' }
  /**
   * Have the host's guard take the trial back to `to` when no agent can. `watch`: what was promoted in this boot, when no
   * agent comes up after the next one.
   */
  | { readonly do: 'arm-guard'; readonly trial: GuardedTrial; readonly to: Target; readonly watch?: string }
  | { readonly do: 'reassure-guard' }
  | { readonly do: 'disarm-guard' }
  /** Take away everything that is ours on this node: it is at rest with its local config, and we are to go. */
  | { readonly do: 'leave' }
  /** Remove every checkpoint that the state does not name, and what writes left behind. */
  | { readonly do: 'collect-garbage' };

/** What the guard knows a trial by. */
export type GuardedTrial = Pick<Trial, 'config' | 'since'>;

export interface Decision {
  /** The same object as before where nothing changes. To be on disk before the first action. */
  readonly next: State;
  /** In order. */
  readonly actions: readonly Action[];
  /** When to look again if nothing happens before; 0 for at once. */
  readonly recheckAfterMs: Millis;
}
