import type { Clock } from '#shared/runtime/clock.ts';
import type { GitCredentials } from './git-credentials.ts';
import { permanentFailure, isGitError } from './errors.ts';
import { abortedError } from './request-deadlines.ts';
import type { GitSession, Greeting } from './wire/git-session.ts';
import type { ProxySettings } from '#shared/http/proxy.ts';
import type { GitLimits } from './git-limits.ts';

export interface RemoteOptions {
  /** `https://host/path.git` without a credential in it, or `ssh://git@host/path.git`, or `git@host:path.git`. */
  readonly url: string;
  readonly credentials: GitCredentials;
  /** PEM file of the authorities to trust instead of the well-known ones; read again when it changes. */
  readonly caFile?: string | undefined;
  /** What may stand between, over http and https. */
  readonly proxy?: ProxySettings | undefined;
  readonly limits?: Partial<GitLimits>;
  /** How a repository is reached whose address is one of ssh. */
  readonly ssh?: SshOptions | undefined;
  readonly clock: Clock;
}

export interface SshOptions {
  /** Directory with the files `ssh-privatekey` (or `identity`) and `known_hosts`; read again at every use. */
  readonly directory: string | undefined;
  /** The OpenSSH client. Default: `ssh`. */
  readonly program?: string;
}

/** A repository on a server. */
export interface Remote {
  /** The address without credentials. */
  readonly url: string;
  /** Does one call's work, which ends within `limits.totalMs` or with an error. Rejects with GitErrors. */
  within<Result>(signal: AbortSignal, work: (session: GitSession) => Promise<Result>): Promise<Result>;
}

/**
 * A repository whose sessions `open` begins. What the server said of itself in one call is known in the next, which saves a
 * request.
 */
export function remoteFromSessions(
  url: string,
  open: (signal: AbortSignal, greeting: Greeting | null) => Promise<GitSession>,
): Remote {
  let greeting: Greeting | null = null;
  return {
    url,
    async within(signal, work) {
      if (signal.aborted) throw abortedError(url, signal);
      const session = await open(signal, greeting);
      try {
        const result = await work(session);
        const heard = session.greeting();
        greeting = heard?.advertisement.version === 2 ? heard : null;
        return result;
      } catch (error) {
        // The server may have moved or changed: the next call asks it again.
        if (!isGitError(error, 'GIT_BRANCH_MISSING') && permanentFailure(error) === undefined) greeting = null;
        throw error;
      }
    },
  };
}
