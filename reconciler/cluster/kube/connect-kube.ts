import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { proxyFor, readProxySettings } from '#shared/http/proxy.ts';
import { createKube } from '#shared/kube/client.ts';
import { inClusterCredentials, inClusterServer } from '#shared/kube/in-cluster.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { SenderOptions } from '#shared/kube/sender.ts';
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
  | { readonly by: 'service-account' };

export type ApiServer = Pick<SenderOptions, 'server' | 'credentials' | 'proxy' | 'disableCompression'>;

/**
 * A connection to the cluster that the environment means, as kubectl has it. The first of these that there is: the kubeconfig given,
 * those that `KUBECONFIG` names, `~/.kube/config`, the pod's service account.
 *
 * @throws GitopsError KUBECONFIG_MISSING, KUBECONFIG_INVALID or SETTINGS_INVALID; the API server itself is not called yet
 */
export async function connectKube(options: ConnectOptions): Promise<Kube> {
  const { clock, log, userAgent } = options;
  return createKube({ ...(await findApiServer(options)), clock, log, userAgent });
}

/** Where the API server is, what to show it, and what stands between. @throws as `connectKube` */
export async function findApiServer(
  options: Pick<ConnectOptions, 'kubeconfigPath' | 'context' | 'env' | 'clock'>,
): Promise<ApiServer> {
  const { env, clock, context } = options;
  const way = findConnectionMethod(options, existsSync);
  if (way.by === 'kubeconfig') {
    // Brings @kubernetes/client-node along, which a reconciler in a pod never needs.
    const { openKubeconfig, noContext } = await import('./kubeconfig.ts');
    const opened = await openKubeconfig(way.paths, context, { clock, env });
    if (opened !== undefined) return { ...opened, proxy: opened.proxy ?? proxyTo(opened.server, env) };
    if (inClusterServer(env) === undefined) throw noContext(way.paths);
  }
  // A context can only come from a kubeconfig.
  const server = context === undefined ? inClusterServer(env) : undefined;
  if (server !== undefined) return { server, credentials: inClusterCredentials(clock), proxy: proxyTo(server, env) };
  const master = (env['KUBERNETES_MASTER'] ?? '') === '' ? '' : ' (KUBERNETES_MASTER is not read)';
  throw new GitopsError(
    'KUBECONFIG_MISSING',
    `no cluster to talk to: this is not a pod, KUBECONFIG is not set and there is no ~/.kube/config${master}. ` +
      'Name a kubeconfig with --kubeconfig',
  );
}

export function findConnectionMethod(
  { kubeconfigPath, env }: Pick<ConnectOptions, 'kubeconfigPath' | 'env'>,
  exists: (path: string) => boolean,
): ConnectionMethod {
  if (kubeconfigPath !== undefined && kubeconfigPath !== '') return { by: 'kubeconfig', paths: [kubeconfigPath] };
  const named = env['KUBECONFIG'] ?? '';
  if (named !== '') return { by: 'kubeconfig', paths: named.split(delimiter).filter((path) => path !== '') };
  const usual = join(env['HOME'] ?? '', '.kube', 'config');
  if ((env['HOME'] ?? '') !== '' && exists(usual)) return { by: 'kubeconfig', paths: [usual] };
  return { by: 'service-account' };
}

/**
 * What stands before an API server by the environment, as in client-go, also in a pod: undefined for nothing.
 *
 * @throws GitopsError SETTINGS_INVALID
 */
function proxyTo(server: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const settings = readProxySettings(
    (name) => env[name],
    (message) => {
      throw new GitopsError('SETTINGS_INVALID', message);
    },
  );
  const proxy = proxyFor(settings, new URL(server));
  if (proxy !== undefined && server.startsWith('http:') && (env['REQUEST_METHOD'] ?? '') !== '')
    throw new GitopsError('SETTINGS_INVALID', 'HTTP_PROXY is not believed in a CGI program: REQUEST_METHOD is set');
  return proxy;
}
