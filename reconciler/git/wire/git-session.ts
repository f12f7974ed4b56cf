import type { GitLimits } from '../git-limits.ts';
import type { Advertisement } from './advertisement.ts';
import type { Take } from './pack-answer.ts';

export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** A server's first answer, and its address. Kept from call to call for version 2, which has no refs in it. */
export interface Greeting {
  /** Address of the repository after redirects. */
  readonly base: URL;
  readonly body: Buffer;
  readonly advertisement: Advertisement;
}

/** One call on a repository: one credential, one deadline, as many requests as it takes. */
export interface GitSession {
  /** The repository without credentials, for messages. */
  readonly url: string;
  /** The address for isomorphic-git. It wants an http one, and sends its requests to this session alone. */
  readonly libraryUrl: string;
  readonly limits: GitLimits;
  /** The last greeting of upload-pack; null before the first. */
  greeting(): Greeting | null;
  /**
   * What the server is and has, from `GET …/info/refs`.
   *
   * @param version 2 may be answered from memory
   */
  greet(service: GitService, version: 0 | 2): Promise<Greeting>;
  /**
   * The answer to a POST, not yet looked into. `version` 2 announces protocol 2.
   *
   * @returns what `take` was not handed: all of the answer without it, nothing with it
   */
  post(
    service: GitService,
    body: Uint8Array,
    options: { readonly version: 0 | 2; readonly maxBytes: number; readonly take?: Take | undefined },
  ): Promise<Buffer>;
  /** Takes the credential out of a text. */
  clean(text: string): string;
}
