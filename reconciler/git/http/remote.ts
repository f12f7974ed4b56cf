import type { Clock } from '#shared/runtime/clock.ts';
import type { GitCredentials } from '../credentials.ts';
import { isGitError } from '../errors.ts';
import { DEFAULT_GIT_LIMITS, type GitLimits } from '../limits.ts';
import { repositoryUrl } from '../repository-url.ts';
import { createConnections } from './connections.ts';
import { abortedError } from './patience.ts';
import { type GitSession, type Greeting, openSession } from './session.ts';

export interface RemoteOptions {
  /** `https://host/path.git`, without a credential in it. */
  readonly url: string;
  readonly credentials: GitCredentials;
  /** PEM file of the authorities to trust instead of the well-known ones; read again when it changes. */
  readonly caFile?: string | undefined;
  readonly limits?: Partial<GitLimits>;
  readonly clock: Clock;
}

/** A repository on a server. */
export interface Remote {
  /** The address without credentials. */
  readonly url: string;
  /** Does one call's work, which ends within `limits.totalMs` or with an error. Rejects with GitErrors. */
  within<Result>(signal: AbortSignal, work: (session: GitSession) => Promise<Result>): Promise<Result>;
}

/** @throws GitError `GIT_URL_UNUSABLE` */
export function createRemote(options: RemoteOptions): Remote {
  const { credentials, clock } = options;
  const url = repositoryUrl(options.url);
  const limits = { ...DEFAULT_GIT_LIMITS, ...options.limits };
  const connections = createConnections(options.caFile);
  let greeting: Greeting | null = null;

  return {
    url: url.href,
    async within(signal, work) {
      if (signal.aborted) throw abortedError(url.href, signal);
      const [credential, agents] = await Promise.all([credentials.read(), connections.current()]);
      const session = openSession({ url, credential, agents, limits, clock, signal, greeting });
      try {
        const result = await work(session);
        const heard = session.greeting();
        greeting = heard?.advertisement.version === 2 ? heard : null;
        return result;
      } catch (error) {
        // The server may have moved or changed: the next call asks it anew.
        if (!isGitError(error, 'GIT_BRANCH_MISSING')) greeting = null;
        throw error;
      }
    },
  };
}
