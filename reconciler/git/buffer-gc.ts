/** Says how many bytes of Buffers are of no use any more. */
type BufferGc = (bytes: number) => void;

/** So many dead bytes are let be. */
const SWEPT_AT = 4 * 1024 * 1024;

/**
 * Gives dead Buffers back while a commit is received and unpacked. V8 collects young objects as its own heap fills, in which a
 * Buffer weighs next to nothing, and lets 64 MiB of them pile up before it looks: that was a fourth of the Deployment's memory.
 * Does nothing in a program that was started without `--expose-gc`.
 */
export function createBufferGc(): BufferGc {
  let dead = 0;
  return (bytes) => {
    dead += bytes;
    if (dead < SWEPT_AT) return;
    dead = 0;
    globalThis.gc?.({ type: 'minor' });
  };
}
