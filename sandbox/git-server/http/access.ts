import { createHash, timingSafeEqual } from 'node:crypto';
import type { GitService } from '#sandbox/git-server/protocol/advertise.ts';

export interface GitCredential {
  readonly username: string;
  readonly password: string;
  /** May fetch and not push. Default false. */
  readonly readOnly?: boolean;
}

/** `unknown`: no or wrong credentials (401). `forbidden`: known, but not allowed to do this (403). */
export type Access = 'granted' | 'unknown' | 'forbidden';

/**
 * Judges an `Authorization` header (Basic). Without any credential configured everyone may do everything.
 *
 * @param header as the client sent it, or undefined
 */
export function judgeAccess(
  header: string | undefined,
  service: GitService,
  credentials: readonly GitCredential[],
): Access {
  if (credentials.length === 0) return 'granted';
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return 'unknown';
  const presented = Buffer.from(encoded, 'base64').toString('utf8');
  const known = credentials.find(({ username, password }) => isSame(presented, `${username}:${password}`));
  if (known === undefined) return 'unknown';
  return service === 'git-receive-pack' && known.readOnly === true ? 'forbidden' : 'granted';
}

/** Compares digests, so that neither the time taken nor a difference in length tells anything. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
