import type { Action } from './decision.ts';
import type { Observation } from './observation.ts';
import type { AgentTiming } from './timing.ts';
import type { State } from './state.ts';
import { isStoppedByPerson } from './stopped-by-person.ts';

/** Whether the service manager no longer starts the kubelet: it gave up, or was never set to restart it. */
export const isDown = ({ service }: Pick<Observation, 'service'>): boolean =>
  service.state === 'failed' || (service.state === 'stopped' && !isStoppedByPerson({ service }));

/**
 * The start of a kubelet at rest that is down for good while the files that it proved are in place; null where there is
 * none to make. A turn is leave to end a healthy run, and here is none. What a person stopped stays stopped, and what dies
 * again is started now and then.
 */
export function startFailedKubelet({ lastKnownGood }: State, seen: Observation, pace: AgentTiming): Action | null {
  const { files, downMs, startAgeMs, leaving } = seen;
  if (lastKnownGood === null || leaving !== 'no' || files.files !== 'installed' || !isDown(seen)) return null;
  const isDue = downMs >= pace.contradictedMs && (startAgeMs === null || startAgeMs >= pace.brokenRestartMs);
  const because = 'it is down for good, and the files that it proved are in place';
  return isDue ? { do: 'start-kubelet', because, target: lastKnownGood } : null;
}
