const SHORTEST_MATCH = 4;
/** A length that does not fit into its half of the token goes on in further bytes. */
const GOES_ON = 15;

/**
 * The first bytes of what a block of LZ4 holds (lz4_Block_format), at most so many; fewer where the block is cut off between two
 * sequences.
 *
 * @throws RangeError for a damaged block
 */
export function unpackLz4(block: Buffer, mostBytes: number): Buffer {
  const unpacked = Buffer.alloc(mostBytes);
  let end = 0;
  let at = 0;
  const lengthFrom = (half: number): number => {
    let length = half;
    for (let byte = half === GOES_ON ? 255 : 0; byte === 255; at += 1) {
      byte = block.readUInt8(at);
      length += byte;
    }
    return length;
  };
  while (at < block.length && end < mostBytes) {
    const token = block.readUInt8(at);
    at += 1;
    const literals = lengthFrom(token >> 4);
    end += block.copy(unpacked, end, at, at + literals);
    at += literals;
    // The last sequence has only literals.
    if (at >= block.length) break;
    const back = block.readUInt16LE(at);
    at += 2;
    if (back === 0 || back > end) throw new RangeError(`a match begins ${back} bytes before byte ${end}`);
    const until = Math.min(mostBytes, end + lengthFrom(token & GOES_ON) + SHORTEST_MATCH);
    // A match may overlap what it writes.
    for (; end < until; end += 1) unpacked[end] = unpacked[end - back] ?? 0;
  }
  return unpacked.subarray(0, end);
}
