import { isDeepStrictEqual } from 'node:util';

/** What a call authenticates with. Certificates and keys are PEM. */
export interface Credential {
  /** Authorities that the server's certificate may come from; default: the system's own. */
  readonly ca?: string;
  /** Bearer token, without any space around it. */
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate must have, if it is not that of the address. */
  readonly serverName?: string;
  /** A kubeconfig's `insecure-skip-tls-verify`. */
  readonly insecure?: boolean;
  /** More headers: basic authentication, impersonation. A list is sent as a header for each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Where credentials come from. They may change from call to call: tokens expire, authorities are rotated. */
export interface Credentials {
  /** @throws where there is none, a missing token file for example: that is the end of this call, not of the client */
  current(): Promise<Credential>;
  /** The present credential was refused: the next `current` looks again. */
  refresh(): void;
}

/** Credentials that never change: for tests and the sandbox. */
export function staticCredentials(credential: Credential = {}): Credentials {
  const { token } = credential;
  const fixed = token === undefined ? credential : { ...credential, token: token.trim() };
  return { current: () => Promise.resolve(fixed), refresh: () => undefined };
}

/** Whether it would make no difference to the server which of the two is used. */
export const sameCredential = (one: Credential, other: Credential): boolean => isDeepStrictEqual(one, other);
