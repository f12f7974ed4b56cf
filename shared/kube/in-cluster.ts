import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import type { Credentials } from './kube-credentials.ts';
import { createFileText } from './file-text.ts';

/** Where the kubelet mounts a pod's service account. */
export const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The API server's address as a pod finds it in its environment (`KUBERNETES_SERVICE_HOST` and `_PORT`).
 *
 * @returns undefined where the process runs in no pod
 */
export function inClusterServer(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') return undefined;
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `https://${address}:${port}`;
}

/**
 * A pod's service account: its token and the cluster's authorities, read again when the last reading is older than a
 * minute or was refused. The kubelet replaces the token well before it expires.
 */
export function inClusterCredentials(clock: Clock, directory = SERVICE_ACCOUNT_DIRECTORY): Credentials {
  const token = createFileText(join(directory, 'token'), clock);
  const ca = createFileText(join(directory, 'ca.crt'), clock);
  return {
    async current() {
      const [tokenText, caText] = await Promise.all([token.read(), ca.read()]);
      return { ca: caText, token: tokenText };
    },
    refresh() {
      token.forget();
      ca.forget();
    },
  };
}
