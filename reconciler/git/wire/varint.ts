import { GitError } from '../errors.ts';

/**
 * A length as packs write it: the lowest bits first, seven to a byte, the highest bit saying whether more follow.
 *
 * @param bitsInFirst 4 in the header of an object, whose first byte holds the type as well; 7 elsewhere
 * @throws GitError `GIT_DAMAGED` for a length that does not end or cannot be true
 */
export function readSize(
  bytes: Buffer,
  at: number,
  bitsInFirst: 4 | 7,
): { readonly value: number; readonly end: number } {
  let byte = bytes[at];
  let value = (byte ?? 0) & (2 ** bitsInFirst - 1);
  let scale = 2 ** bitsInFirst;
  let end = at + 1;
  while (byte !== undefined && byte & 0x80) {
    byte = bytes[end];
    value += ((byte ?? 0) & 0x7f) * scale;
    scale *= 128;
    end += 1;
  }
  if (byte === undefined || value > Number.MAX_SAFE_INTEGER) {
    throw new GitError('GIT_DAMAGED', 'what the git server sent is damaged: a length does not end');
  }
  return { value, end };
}
