import type { Millis } from '#shared/runtime/clock.ts';
import type { Config, State, Target } from './state.ts';

/** What the shell has to do. Each action is safe to do twice: the agent can die before, in and after any of them. */
export type Action =
  /** Fetch, verify, checkpoint, validate and preflight; the result is in the next observation. Leaves the kubelet alone. */
  | { readonly do: 'stage'; readonly config: Config }
  /** Make the managed files what the target needs. */
  | { readonly do: 'install'; readonly target: Target }
  | { readonly do: 'restart-kubelet'; readonly because: string }
  /** Remove every checkpoint that the state does not name, and what writes left behind. */
  | { readonly do: 'collect-garbage' };

export interface Decision {
  /** The same object as before where nothing changes. To be on disk before the first action. */
  readonly next: State;
  /** In order. */
  readonly actions: readonly Action[];
  /** When to look again if nothing happens before; 0 for at once. */
  readonly recheckAfterMs: Millis;
}
