/** Bytes of a file from an offset on; fewer only where the file ends. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

const BLOCK_BYTES = 16 * 1024;

/**
 * Reads in blocks that are kept, because what belongs together in a journal lies close together. The whole costs at most
 * `mostBlocks` of 16 KiB, in time and in memory.
 *
 * @throws Error from the block on that would be one too many
 */
export function inBlocks(read: ReadAt, mostBlocks: number): ReadAt {
  const blocks = new Map<number, Promise<Buffer>>();
  const block = (index: number): Promise<Buffer> => {
    const known = blocks.get(index);
    if (known !== undefined) return known;
    if (blocks.size >= mostBlocks) throw new Error(`more than ${mostBlocks} blocks were asked for`);
    const fresh = read(index * BLOCK_BYTES, BLOCK_BYTES);
    blocks.set(index, fresh);
    return fresh;
  };
  return async (offset, length) => {
    const parts: Buffer[] = [];
    const end = offset + length;
    for (let index = Math.floor(offset / BLOCK_BYTES); index * BLOCK_BYTES < end; index += 1) {
      const from = index * BLOCK_BYTES;
      parts.push((await block(index)).subarray(Math.max(0, offset - from), end - from));
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  };
}
