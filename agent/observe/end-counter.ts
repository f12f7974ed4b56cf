import type { Millis } from '#shared/runtime/clock.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';

/** Counts the kubelet's ends by itself from look to look. */
interface EndCounter {
  /** @returns how many since it was last healthy for a while, the present one included */
  update(service: ServiceStatus, isHealthy: boolean, now: Millis): number;
}

/** A kubelet that dies again and again is healthy for seconds in between. */
const STEADY_MS: Millis = 10_000;

export function createEndCounter(): EndCounter {
  let ends = 0;
  let counter: number | null = null;
  let run: string | null = null;
  let healthySince: Millis | undefined;
  return {
    update(service, isHealthy, now) {
      const { automaticRestarts, awaitsRestart = false } = service;
      const before = counter;
      counter = automaticRestarts ?? counter;
      const isSameRun = service.run !== null && service.run === run;
      run = service.run ?? run;
      healthySince = isHealthy ? ((isSameRun ? healthySince : undefined) ?? now) : undefined;
      // Whoever starts it by an order sets the service manager's counter back.
      const isOrdered = before !== null && counter !== null && counter < before;
      if (isOrdered || (healthySince !== undefined && now - healthySince >= STEADY_MS)) ends = 0;
      else ends += Math.max(0, (counter ?? 0) - (before ?? counter ?? 0));
      return ends + (awaitsRestart ? 1 : 0);
    },
  };
}
