import { type ApiServer, findApiServer } from '#reconciler/cluster/kube/connect-kube.ts';
import { createKube } from '#shared/kube/client.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import type { SenderOptions } from '#shared/kube/sender.ts';
import { createTransport, type Transport } from '#shared/kube/transport.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { Given } from './command.ts';
import type { Io } from './io.ts';

/** A cluster, also for calls that are about no object that is kept. */
export interface Connection {
  readonly kube: Kube;
  readonly transport: Transport;
}

/** The cluster that `CLUSTER_OPTIONS` name. @throws GitopsError if no kubeconfig names it, or a credential is missing */
export async function connectWith(
  given: Given,
  { env }: Pick<Io, 'env'>,
  more: Pick<SenderOptions, 'managedFields'> = {},
): Promise<Connection & { readonly api: ApiServer }> {
  const api = await findApiServer({
    kubeconfigPath: given.text('kubeconfig'),
    context: given.text('context'),
    env,
    clock: systemClock,
  });
  // A plugin may ask a person to log in, who may take longer than a call does.
  await api.credentials.current().catch((error: unknown) => {
    throw new GitopsError('CREDENTIAL_UNAVAILABLE', `there is no credential (${reasonOf(error)})`, { cause: error });
  });
  const options = { ...api, ...more, clock: systemClock, userAgent: `kubelet-gitops/${VERSION}` };
  return {
    api,
    kube: createKube({ ...options, log: silentLog }),
    transport: createTransport({ ...options, onWarning: () => undefined }),
  };
}

/** @throws as `connectWith` */
export const connectTo = async (given: Given, io: Io): Promise<Kube> => (await connectWith(given, io)).kube;

/**
 * For commands that go on when single things cannot be read: an API server that does not answer at all is none of those.
 *
 * @throws KubeError if it does not answer, or not to us
 */
export async function requireReachable(kube: Kube): Promise<void> {
  await kube.get({ resource: NODES }, 'kubelet-gitops-asks').catch((error: unknown) => {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
  });
}
