import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Desired } from './desired.ts';
import type { Fleet } from './fleet.ts';
import { untaintSteps } from './untaint-steps.ts';
import { planConfigSources } from './plan-config-sources.ts';
import { presenceSteps } from './presence-steps.ts';
import { planPools } from './pool-status/plan-pools.ts';
import { rememberClasses } from './remember-classes.ts';
import { type NodesPlan, planNodes } from './plan-nodes.ts';
import { NO_SIGNALS, type Signals } from './signals.ts';
import type { PlanSettings, Step } from './steps.ts';

export interface Plan {
  /** The writes to make, in order. */
  readonly steps: readonly Step[];
  /** For every node: its standing, and why it is (not) changed now. */
  readonly nodes: NodesPlan;
  /** The status of every pool as it is to be. */
  readonly pools: ReadonlyMap<string, KubeletPoolStatus>;
}

/**
 * The whole policy of the reconciler, without I/O, clock or chance: what is wanted, what is seen and the time give the
 * writes to make. Level-triggered: it looks only at the present, so a missed event, a restart in the middle or a second
 * reconciler changes nothing but timing.
 */
export function plan(
  desired: Desired,
  fleet: Fleet,
  settings: PlanSettings,
  now: Millis,
  signals: Signals = NO_SIGNALS,
): Plan {
  const nodes = planNodes(desired, fleet, settings, now, signals);
  const pools = planPools(fleet, nodes, now, desired.refused, signals.awaited);
  const sources = planConfigSources(desired, fleet, settings, now, pools.statuses.values());
  const steps = [
    ...sources,
    ...presenceSteps(fleet, now),
    ...rememberClasses(desired, fleet),
    ...nodes.steps,
    ...untaintSteps(nodes.groups, desired, fleet, now),
    ...pools.steps,
  ];
  return { steps, nodes, pools: pools.statuses };
}
