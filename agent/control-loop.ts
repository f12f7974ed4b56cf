import type { Millis } from '#shared/runtime/clock.ts';
import type { Execute } from './execute/execute.ts';
import type { Explain } from './execute/explain.ts';
import type { Decision } from './decide/decision.ts';
import type { Observation } from './decide/observation.ts';
import type { Observe } from './observe/observe.ts';
import type { State } from './decide/state.ts';

/** What a turn of the loop is made of. */
export interface LoopSteps {
  readonly observe: Observe;
  readonly decide: (state: State, seen: Observation) => Decision;
  /** Adds what the kubelet itself said of what the decision found to have failed. */
  readonly explain: Explain;
  /** Drops what was remembered of earlier actions and no longer applies. */
  readonly forget: (state: State, seen: Observation) => void;
  /** Writes the state down. @returns the decision as far as it may be carried out */
  readonly save: (before: State, decision: Decision) => Promise<Decision>;
  readonly report: (decision: Decision, seen: Observation) => void;
  readonly execute: Execute;
  /** Shortest time between two looks after an action that could not be carried out. Doubles with each such look in a row. */
  readonly retryMs: Millis;
  readonly maxRetryMs: Millis;
  readonly wait: (ms: Millis, signal: AbortSignal) => Promise<void>;
  /** A turn that broke off, which is a mistake of ours. @returns how long to wait before the next */
  readonly recover: (error: unknown) => Millis;
}

/** Observe, decide, write down, act: forever, and from wherever the node stands. Decides nothing. */
export async function runLoop(start: State, steps: LoopSteps, signal: AbortSignal): Promise<void> {
  let state = start;
  /** Looks in a row after which something could not be done. */
  let faults = 0;
  const turn = async (): Promise<Millis> => {
    const seen = await steps.observe(state, signal);
    const decided = await steps.explain(state, steps.decide(state, seen), seen, signal);
    steps.forget(decided.next, seen);
    const decision = await steps.save(state, decided);
    state = decision.next;
    steps.report(decision, seen);
    for (const action of decision.actions) {
      // What could not be done now will not be possible at once.
      if (await steps.execute(action, state, signal)) continue;
      faults += 1;
      return Math.max(
        decision.recheckAfterMs,
        Math.min(steps.maxRetryMs, steps.retryMs * 2 ** Math.min(faults - 1, 10)),
      );
    }
    faults = 0;
    return decision.recheckAfterMs;
  };
  while (!signal.aborted) await steps.wait(await turn().catch(steps.recover), signal);
}
