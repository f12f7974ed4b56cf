import { DEFAULT_GIT_LIMITS } from '../git-limits.ts';
import { type Remote, remoteFromSessions, type RemoteOptions } from '../remote.ts';
import { repositoryUrl } from '../repository-url.ts';
import { createConnectionAgents } from './connection-agents.ts';
import { proxiesFor } from '#shared/http/proxy.ts';
import { openSession } from './http-session.ts';

/** A repository on a server that is reached over HTTP(S). @throws GitError `GIT_URL_UNUSABLE` */
export function createHttpRemote(options: RemoteOptions): Remote {
  const { credentials, clock } = options;
  const url = repositoryUrl(options.url);
  const limits = { ...DEFAULT_GIT_LIMITS, ...options.limits };
  const connections = createConnectionAgents(
    options.caFile,
    options.proxy === undefined ? undefined : proxiesFor(options.proxy, url),
    // Only what was asked for and given up is left to end by itself.
    2 * limits.connectMs,
  );
  return remoteFromSessions(url.href, async (signal, greeting) => {
    const [credential, certificate] = await Promise.all([credentials.read(), credentials.certificate?.()]);
    const way = await connections.current(certificate);
    return openSession({ url, credential, way, limits, clock, signal, greeting });
  });
}
