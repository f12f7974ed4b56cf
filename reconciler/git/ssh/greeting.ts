import { GitError } from '../errors.ts';
import { FLUSH, packetLine } from '../wire/pkt-line.ts';

/**
 * Where the server's greeting ends: behind its first flush packet.
 *
 * @returns null while it is not there yet
 * @throws GitError `GIT_NOT_GIT` where these are no packets: a login message, say
 */
export function lengthOfGreeting(bytes: Buffer): number | null {
  let at = 0;
  while (at + 4 <= bytes.length) {
    const hex = bytes.toString('latin1', at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(hex) ? Number.parseInt(hex, 16) : -1;
    if (length === 0) return at + 4;
    if (length < 4) {
      throw new GitError(
        'GIT_NOT_GIT',
        'the server’s first words are not of git’s protocol: does the account run a shell?',
      );
    }
    at += length;
  }
  return null;
}

/** The same greeting as it is sent over HTTP, where the service's name stands before it. */
export function asOverHttp(service: string, greeting: Buffer): Buffer {
  return Buffer.concat([packetLine(`# service=${service}\n`), FLUSH, greeting]);
}
