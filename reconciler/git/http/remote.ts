import { DEFAULT_GIT_LIMITS } from '../limits.ts';
import { type Remote, remoteOver, type RemoteOptions } from '../remote.ts';
import { repositoryUrl } from '../repository-url.ts';
import { createConnections } from './connections.ts';
import { proxiesFor } from '../proxy.ts';
import { openSession } from './session.ts';

/** A repository on a server that is reached over HTTP(S). @throws GitError `GIT_URL_UNUSABLE` */
export function createHttpRemote(options: RemoteOptions): Remote {
  const { credentials, clock } = options;
  const url = repositoryUrl(options.url);
  const limits = { ...DEFAULT_GIT_LIMITS, ...options.limits };
  const connections = createConnections(
    options.caFile,
    options.proxy === undefined ? undefined : proxiesFor(options.proxy, url),
    // Only what was asked for and given up is left to end by itself.
    2 * limits.connectMs,
  );
  return remoteOver(url.href, async (signal, greeting) => {
    const [credential, certificate] = await Promise.all([credentials.read(), credentials.certificate?.()]);
    const way = await connections.current(certificate);
    return openSession({ url, credential, way, limits, clock, signal, greeting });
  });
}
