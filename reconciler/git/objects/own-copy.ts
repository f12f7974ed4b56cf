/**
 * The same bytes in memory of their own, for those that are kept. Node cuts small Buffers from slabs (of 64 KiB in Node 24,
 * `Buffer.poolSize`), and a few bytes that are kept keep all of their slab.
 */
export function ownCopy(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
