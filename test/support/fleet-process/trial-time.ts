import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { healthyFor, nextReport } from '#cli/simulate/fleet/simulated-agent.ts';
import type { TrialManners } from './asks.ts';

/** What an agent reports next, and how long after the begin of the trial; 0 for what has nothing to do with one. */
export interface TimedReport {
  readonly afterMs: Millis;
  readonly status: KubeletNodeStatus;
  readonly restarted: boolean;
}

/**
 * What a simulated agent reports next where trials take their time: `probationMs` after its kubelet is up that it is healthy, and the
 * promotion at the end. Another assignment is heard of at once.
 *
 * @param at when it reports, RFC 3339
 * @returns null where there is nothing to report
 */
export function timedReport(node: KubeletNode, at: string, manners: TrialManners | undefined): TimedReport | null {
  const next = nextReport(node, at);
  if (next === null) return null;
  const { metadata, status: { phase, trial, observedGeneration = 0 } = {} } = node;
  const isOnTrial = phase === 'Trial' && trial && observedGeneration >= (metadata.generation ?? 0);
  if (manners === undefined || !isOnTrial) return { afterMs: 0, ...next };
  const { restartMs, probationMs } = manners;
  const probationSeconds = Math.ceil(probationMs / 1000);
  const healthy = healthyFor(node, probationSeconds, at);
  if (healthy !== null && trial.healthySeconds < probationSeconds && probationSeconds < trial.durationSeconds) {
    return { afterMs: restartMs + probationMs, status: healthy, restarted: false };
  }
  return { afterMs: restartMs + trial.durationSeconds * 1000, ...next };
}
