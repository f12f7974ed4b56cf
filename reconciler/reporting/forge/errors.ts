import { GitopsError } from '#shared/runtime/errors.ts';

/** What a forge (or the way to it) said no with. */
export type ForgeErrorCode =
  /** No address, repository or token to go by. */
  | 'FORGE_SETTINGS'
  /** The file with the token is missing or empty. */
  | 'FORGE_TOKEN_UNREADABLE'
  /** No connection, or no answer in time. */
  | 'FORGE_UNREACHABLE'
  /** 401. */
  | 'FORGE_UNAUTHORIZED'
  /** 403 or 404: the token may not do this, or may not see the repository. */
  | 'FORGE_FORBIDDEN'
  /** A redirect, which is not followed: the token would go along. */
  | 'FORGE_MOVED'
  /** 429, or what GitHub says instead. */
  | 'FORGE_THROTTLED'
  /** 5xx; 408 and 409. */
  | 'FORGE_SERVER_ERROR'
  /** The forge does not take this status: 400, 422. */
  | 'FORGE_REFUSED'
  /** The answer is not what its documentation says. */
  | 'FORGE_UNREADABLE';

export class ForgeError extends GitopsError<ForgeErrorCode> {
  override name = 'ForgeError';
}

export const isForgeError = (thrown: unknown, ...codes: readonly ForgeErrorCode[]): thrown is ForgeError =>
  thrown instanceof ForgeError && (codes.length === 0 || codes.includes(thrown.code));
