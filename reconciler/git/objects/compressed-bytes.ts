import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ownCopy } from './own-copy.ts';

/** Bytes that are kept for long and read seldom. */
export interface CompressedBytes {
  /** What they are, made again at each reading where they are kept packed. */
  readonly bytes: Uint8Array;
}

/** Packing costs a few of its own, and time at each reading. */
const LEAST_BYTES = 1024;
/** Text becomes a fourth at any level; this one takes the least time. */
const LEVEL = 1;
/** Of its size at most, once it is packed. */
const WORTH_IT = 0.9;

/**
 * What keeps bytes, packed where that is worth it. A snapshot of a branch is kept for as long as the next one is read, and of its
 * files only those of pools are ever looked into, once. What was unpacked last is at hand, because the same file may have many names.
 */
export function createBytesCompressor(): (bytes: Uint8Array) => CompressedBytes {
  let last: { readonly packed: Buffer; readonly bytes: Buffer } | null = null;
  return (bytes) => {
    const { length } = bytes;
    if (length < LEAST_BYTES) return { bytes: ownCopy(bytes) };
    // By default it takes sixteen KiB at once, and gives back a view of them.
    const packed = ownCopy(deflateRawSync(bytes, { level: LEVEL, chunkSize: length }));
    if (packed.length > WORTH_IT * length) return { bytes: ownCopy(bytes) };
    return {
      get bytes() {
        if (last?.packed !== packed) last = { packed, bytes: inflateRawSync(packed, { chunkSize: length }) };
        return last.bytes;
      },
    };
  };
}
