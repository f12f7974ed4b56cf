import { connectKube } from '#reconciler/kube/connect.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { Given } from './command.ts';
import type { Io } from './io.ts';

/** The cluster that `CLUSTER_OPTIONS` name. @throws GitopsError where there is no kubeconfig that says it */
export function connectTo(given: Given, io: Io): Promise<Kube> {
  const [kubeconfig, context] = [given.text('kubeconfig'), given.text('context')];
  return connectKube({
    ...(kubeconfig === undefined ? {} : { kubeconfigPath: kubeconfig }),
    ...(context === undefined ? {} : { context }),
    env: io.env,
    clock: systemClock,
    log: silentLog,
    userAgent: `kubelet-gitops/${VERSION}`,
  });
}
