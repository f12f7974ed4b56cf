import type { ApplyPorts } from '#reconciler/cluster/apply.ts';
import { createDrains } from '#reconciler/cluster/drains/drains.ts';
import { createFallbackNames } from '#reconciler/cluster/fallback-names.ts';
import { createFailedWrites } from '#reconciler/cluster/failed-writes.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';

/** What steps are carried out with by a process that leads, whom nobody listens to. */
export const applyPorts = (kube: Kube, more: Partial<ApplyPorts> = {}, clock: Clock = systemClock): ApplyPorts => ({
  kube,
  namespace: 'kubelet-gitops',
  log: silentLog,
  mayWrite: () => true,
  drains: createDrains(kube),
  wrote: () => undefined,
  wrotePool: () => undefined,
  wroteMarks: () => undefined,
  answered: () => undefined,
  failedWrites: createFailedWrites(clock),
  otherNames: createFallbackNames(),
  ...more,
});
