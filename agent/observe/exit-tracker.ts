import type { ProcessMemory } from '../decide/process-memory.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';

/**
 * Remembers how the kubelet last ended by itself since the agent ordered a restart. Service managers forget that as soon as
 * the next run begins, and it is the first thing that people ask. Nor do they say who stopped a kubelet: one of which no run
 * was seen since the agent's own order was stopped by that order, and something keeps it from starting.
 */
export function createExitTracker(memory: ProcessMemory): (status: ServiceStatus) => ServiceStatus {
  let lastExit: string | undefined;
  let restarts = 0;
  let isOurStop = false;
  return (status) => {
    if (memory.restarts !== restarts) {
      lastExit = undefined;
      isOurStop = true;
    }
    restarts = memory.restarts;
    lastExit = status.lastExit ?? lastExit;
    if (status.run !== null) isOurStop = false;
    const { wasStopped = false, ...rest } = status;
    return {
      ...rest,
      ...(lastExit === undefined ? {} : { lastExit }),
      ...(wasStopped && !isOurStop ? { wasStopped } : {}),
    };
  };
}
