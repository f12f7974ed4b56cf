import type { Millis } from '#shared/runtime/clock.ts';
import type { Intent, Observation } from './observation.ts';
import { activeOf, sameConfig, type State } from './state.ts';

/** How often a node at rest asks the API server for its Node, and the kubelet for its /configz. */
const IDLE_NODE_MS: Millis = 30 * 60_000;
const IDLE_CONFIGZ_MS: Millis = 15 * 60_000;
const PASSING_CONFIGZ_MS: Millis = 50_000;
/** After a restart the kubelet may be a newer one. It reports its version to its Node within a minute. */
const NEW_RUN_MS: Millis = 3 * 60_000;
const NEW_RUN_NODE_MS: Millis = 60_000;
/** One that comes up registers within seconds. */
export const REGISTERING_MS: Millis = 30_000;
const REGISTERING_NODE_MS: Millis = 4_000;

/** Whether a trial goes on or may begin: then the look has to find out what the machine suffers. */
export function needsPressure(state: State, intent: Intent): boolean {
  if (state.doing.phase === 'trial') return true;
  return intent.intent === 'config' && (intent.turn !== undefined || !sameConfig(intent.config, activeOf(state)));
}

/**
 * How old a reading of the Node may be; 0 if the look has to read it again.
 *
 * @param runAgeMs how long ago the agent saw the kubelet's present run begin; more than that where it did not see it
 */
export function maxNodeAgeMs(state: State, intent: Intent, runAgeMs: Millis): Millis {
  if (needsPressure(state, intent)) return 0;
  if (runAgeMs < REGISTERING_MS) return REGISTERING_NODE_MS;
  return runAgeMs < NEW_RUN_MS ? NEW_RUN_NODE_MS : IDLE_NODE_MS;
}

/** One reading of the kubelet's /configz. */
export interface ConfigzReading {
  readonly run: string | null;
  /** Monotonic. */
  readonly at: Millis;
  /** It came to nothing that may be otherwise a moment later: a kubelet that just starts. */
  readonly isPassing?: boolean;
}

/** `keep`: the last reading still counts. `pass`: do not read, and do not use an earlier reading. */
type ConfigzPlan = { readonly configz: 'read' | 'keep' } | { readonly configz: 'pass'; readonly why: string };

/**
 * Whether a look reads /configz: each look at a trial that is judged, and now and then at rest.
 *
 * @param run the kubelet's present run; null where there is none
 * @param now monotonic
 */
export function planConfigz(
  { doing }: State,
  run: string | null,
  last: ConfigzReading | undefined,
  now: Millis,
): ConfigzPlan {
  if (doing.phase === 'trial' && doing.change.step === 'judge') return { configz: 'read' };
  if (doing.phase !== 'idle') return { configz: 'pass', why: 'the kubelet is being changed' };
  const isFresh =
    last !== undefined &&
    last.run === run &&
    now - last.at < (last.isPassing === true ? PASSING_CONFIGZ_MS : IDLE_CONFIGZ_MS);
  return { configz: isFresh ? 'keep' : 'read' };
}

type Readiness = Observation['nodeReady'];

/** A Node stays Ready for a while after its kubelet fell silent, so a trial also looks at the Node's Lease. */
export const needsLease = ({ doing }: State, ready: Readiness): boolean => doing.phase === 'trial' && ready === 'yes';

/** @param isStale the Lease is no longer renewed; false if it was not read */
export const readinessOf = (ready: Readiness, isStale: boolean): Readiness => (isStale ? 'unknown' : ready);
