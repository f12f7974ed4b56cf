/** Reads the data types of RFC 4251, section 5, in order. Everything throws a `WireError` where bytes are missing. */
export interface WireReader {
  byte(): number;
  uint32(): number;
  /** Length-prefixed bytes. */
  bytes(): Buffer;
  text(): string;
  /** A non-negative integer as its bytes, without leading zeros. */
  integer(): Buffer;
  raw(length: number): Buffer;
  /** Throws where something is left. */
  end(): void;
}

/** What is said of bytes that are not what they should be; for messages. */
export class WireError extends Error {}

/** Reads such bytes from their beginning. Each call may throw a `WireError`. */
export function readWire(bytes: Uint8Array): WireReader {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const raw = (length: number): Buffer => {
    if (length > buffer.length - at) throw new WireError('it ends too early');
    at += length;
    return buffer.subarray(at - length, at);
  };
  const uint32 = (): number => raw(4).readUInt32BE(0);
  const bytesOf = (): Buffer => raw(uint32());
  return {
    raw,
    uint32,
    byte: () => raw(1).readUInt8(0),
    bytes: bytesOf,
    text: () => bytesOf().toString('latin1'),
    integer() {
      const value = bytesOf();
      if (((value[0] ?? 0) & 0x80) !== 0) throw new WireError('a number in it is negative');
      let zeros = 0;
      while (value[zeros] === 0) zeros += 1;
      return value.subarray(zeros);
    },
    end() {
      if (at !== buffer.length) throw new WireError('something stands behind its end');
    },
  };
}

/** The same data the other way round: a length and the bytes. */
export function wireString(content: Uint8Array | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
