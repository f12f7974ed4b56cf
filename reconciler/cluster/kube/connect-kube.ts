import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createKube } from '#shared/kube/client.ts';
import type { Credentials } from '#shared/kube/kube-credentials.ts';
import { inClusterCredentials, inClusterServer } from '#shared/kube/in-cluster.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

interface ConnectOptions {
  /** `--kubeconfig`: this file and no other. */
  readonly kubeconfigPath?: string | undefined;
  /** `--context`: another one than the kubeconfig's current. */
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent: string;
}

/** How the API server is reached. */
export type ConnectionMethod =
  | { readonly by: 'kubeconfig'; readonly paths: readonly string[] }
  | { readonly by: 'service-account'; readonly server: string }
  | { readonly by: 'nothing' };

/**
 * A connection to the cluster that the environment means. The first of these that there is: the kubeconfig given, those
 * that `KUBECONFIG` names, the pod's service account, `~/.kube/config`.
 *
 * @throws GitopsError KUBECONFIG_MISSING or KUBECONFIG_INVALID; the API server itself is not called yet
 */
export async function connectKube(options: ConnectOptions): Promise<Kube> {
  const { clock, log, userAgent } = options;
  return createKube({ ...(await findApiServer(options)), clock, log, userAgent });
}

/** Where the API server is, and what to show it. @throws as `connectKube` */
export async function findApiServer(
  options: Pick<ConnectOptions, 'kubeconfigPath' | 'context' | 'env' | 'clock'>,
): Promise<{ readonly server: string; readonly credentials: Credentials }> {
  const { clock } = options;
  const way = findConnectionMethod(options, existsSync);
  switch (way.by) {
    case 'service-account':
      return { server: way.server, credentials: inClusterCredentials(clock) };
    case 'kubeconfig': {
      // Brings @kubernetes/client-node along, which a reconciler in a pod never needs.
      const { openKubeconfig } = await import('./kubeconfig.ts');
      return openKubeconfig(way.paths, options.context, clock);
    }
    case 'nothing':
      throw new GitopsError(
        'KUBECONFIG_MISSING',
        'no cluster to talk to: this is not a pod, KUBECONFIG is not set and there is no ~/.kube/config. ' +
          'Name a kubeconfig with --kubeconfig',
      );
  }
}

/** A context can only come from a kubeconfig, so asking for one passes the service account over. */
export function findConnectionMethod(
  { kubeconfigPath, context, env }: Pick<ConnectOptions, 'kubeconfigPath' | 'context' | 'env'>,
  exists: (path: string) => boolean,
): ConnectionMethod {
  if (kubeconfigPath !== undefined && kubeconfigPath !== '') return { by: 'kubeconfig', paths: [kubeconfigPath] };
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length > 0) return { by: 'kubeconfig', paths: named };
  const server = inClusterServer(env);
  if (server !== undefined && context === undefined) return { by: 'service-account', server };
  const usual = join(env['HOME'] ?? '', '.kube', 'config');
  return (env['HOME'] ?? '') !== '' && exists(usual) ? { by: 'kubeconfig', paths: [usual] } : { by: 'nothing' };
}
