import { createHash } from 'node:crypto';
import type { Intent } from '../decide/observation.ts';
import type { Target } from '../decide/state.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';
import type { SeenFiles } from './managed-files.ts';

/** Names the run of the kubelet that a turn is bound to. */
interface RunNames {
  /** To be called at each look, once. */
  nameOf(service: Pick<ServiceStatus, 'run' | 'state'>, isHealthy: boolean): string | null;
}

/**
 * A run that was healthy once is named: a turn to end it ends no other healthy run. One that never was is not,
 * only the last that was healthy before it: a kubelet that dies again and again asks for one turn and not for one with
 * each of its runs, and a turn that was granted then is void as soon as it is healthy, and when it dies another time.
 */
export function createRunNames(): RunNames {
  let lastHealthy: string | null = null;
  return {
    nameOf({ run, state }, isHealthy) {
      if (run !== null && isHealthy) lastHealthy = run;
      if (run === lastHealthy || (run === null && state === 'unknown')) return run;
      return `after ${lastHealthy ?? 'none'}`;
    },
  };
}

/** Equal as long as a restart would end the same run, and start the kubelet with the same files. */
export function fingerprintOf(
  active: Target,
  intent: Intent,
  { base }: Pick<SeenFiles, 'base'>,
  run: string | null,
  bootId: string,
): string {
  const config = active ?? (intent.intent === 'config' ? intent.config : null);
  const way =
    config === null || config.keepFields.length === 0 ? (config?.apply ?? null) : [config.apply, config.keepFields];
  const files = [config?.source.sha256 ?? null, way, base.newer?.sha256 ?? base.under];
  return createHash('sha256')
    .update(JSON.stringify([files, run, bootId]))
    .digest('hex');
}
