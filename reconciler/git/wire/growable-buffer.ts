/** Bytes that arrive piece by piece and are held once, in a row. */
interface GrowableBuffer {
  push(bytes: Buffer): void;
  /** A view of what is there. */
  bytes(): Buffer;
}

/** How much memory is taken at a time. */
const STEP_BYTES = 1024 * 1024;

/**
 * A list of pieces that is put together at the end holds everything twice, and a buffer of twice the size at each turn nearly
 * so. Here address space is reserved for the most that may come, and memory is taken as it fills.
 *
 * @param most bytes; more end in a RangeError
 */
export function createGrowableBuffer(most: number): GrowableBuffer {
  const memory = new ArrayBuffer(0, { maxByteLength: most });
  const present = new Uint8Array(memory);
  let length = 0;
  return {
    push(bytes) {
      const end = length + bytes.length;
      if (end > memory.byteLength) memory.resize(Math.min(most, Math.max(end, memory.byteLength + STEP_BYTES)));
      present.set(bytes, length);
      length = end;
    },
    bytes: () => Buffer.from(memory, 0, length),
  };
}
