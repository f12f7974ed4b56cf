/**
 * The same bytes in memory of their own, for those that are kept. Node cuts small Buffers from slabs (of 64 KiB in Node 24,
 * `Buffer.poolSize`), and a few bytes that are kept keep all of their slab.
 */
export function ownCopy(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** The same bytes where they have memory of their own already, and a copy of them where they are a part of something else. */
export const copyIfShared = (bytes: Uint8Array): Buffer =>
  bytes.byteLength === bytes.buffer.byteLength
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : ownCopy(bytes);
