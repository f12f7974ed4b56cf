import type { Log } from '#shared/runtime/log.ts';
import type { Observation, Sight } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';

/** Logs what can be seen of the kubelet when that changes, at rest and once: during a change it comes and goes by itself. */
export function createSightSayer(log: Log): (state: State, seen: Pick<Observation, 'sight'>) => void {
  let told: Sight['sight'] = 'seen';
  return ({ doing }, { sight }) => {
    const isPassing = sight.sight === 'unreachable' && doing.phase !== 'idle';
    if (sight.sight === told || isPassing) return;
    told = sight.sight;
    if (sight.sight === 'seen') return log.info({}, 'what the kubelet runs is seen');
    log.warn({ why: sight.sight, reason: sight.why }, 'what the kubelet runs is not seen');
  };
}
