import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Observation, ConfigVisibility } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';

/** A kubelet that starts is soon seen. */
const PATIENCE_MS: Millis = 2 * 60_000;

/** Logs what can be seen of the kubelet when that changes, once: during a change, and while it starts, it comes and goes. */
export function createVisibilityLog(log: Log, clock: Pick<Clock, 'monotonic'>) {
  let logged: ConfigVisibility['sight'] = 'seen';
  let unreachableSince: Millis | undefined;
  return ({ doing }: State, { sight }: Pick<Observation, 'sight'>): void => {
    const isUnreachable = sight.sight === 'unreachable' && doing.phase === 'idle';
    unreachableSince = isUnreachable ? (unreachableSince ?? clock.monotonic()) : undefined;
    const isPassing = unreachableSince === undefined || clock.monotonic() - unreachableSince < PATIENCE_MS;
    if (sight.sight === logged || sight.sight === 'not-yet' || (sight.sight === 'unreachable' && isPassing)) return;
    logged = sight.sight;
    if (sight.sight === 'seen') return log.info({}, 'what the kubelet runs is seen');
    log.warn({ why: sight.sight, reason: sight.why }, 'what the kubelet runs is not seen');
  };
}
