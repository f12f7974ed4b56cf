import { GitError } from '../errors.ts';
import { createGrowableBuffer } from '../wire/growable-buffer.ts';
import { FLUSH, packetLine } from '../wire/pkt-line.ts';

/** A server's greeting as it comes: packets up to the first flush, and whatever came along with its end. */
interface GreetingReader {
  /**
   * Takes a piece in.
   *
   * @returns where the greeting ends: behind its first flush packet; null while that is not there yet
   * @throws GitError `GIT_NOT_GIT` where these are no packets: a login message, say
   * @throws RangeError where more than the most comes
   */
  push(chunk: Buffer): number | null;
  /** A view of all that came. */
  bytes(): Buffer;
}

/** @param most bytes. Each is looked at once, in however many pieces they come. */
export function createGreetingReader(most: number): GreetingReader {
  const heard = createGrowableBuffer(most);
  /** Where the first packet begins that was not looked at. */
  let at = 0;
  return {
    bytes: heard.bytes,
    push(chunk) {
      heard.push(chunk);
      const bytes = heard.bytes();
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
    },
  };
}

/** The same greeting as it is sent over HTTP, where the service's name stands before it. */
export function asOverHttp(service: string, greeting: Buffer): Buffer {
  return Buffer.concat([packetLine(`# service=${service}\n`), FLUSH, greeting]);
}
