import { lengthOfPacket, packetMarkOf, type Packet } from './pkt-line.ts';

/** What becomes of git's framing while it arrives. */
interface PacketHandler {
  /** Whether the payload of a packet that begins with this byte is handed over in pieces. Asked once for each packet. */
  readonly inPieces: (first: number) => boolean;
  /** A part of such a payload, without that byte; a view that is not to be kept. */
  readonly piece: (bytes: Buffer) => void;
  /** Any other packet, whole. */
  readonly packet: (packet: Packet) => void;
}

interface PacketStream {
  /** @throws GitError `GIT_NOT_GIT`; what the handler throws */
  push(chunk: Buffer): void;
  /** Whether the last packet is there to its end. */
  isWhole(): boolean;
}

const LENGTH_BYTES = 4;

/** Takes git's framing apart as it arrives, so that what is long is never held twice. */
export function createPacketStream(handler: PacketHandler): PacketStream {
  const length = Buffer.alloc(LENGTH_BYTES);
  let lengthBytes = 0;
  /** Payload bytes that are still to come. */
  let left = 0;
  /** Of a packet that is handed over whole; null while there is none. */
  let parts: Buffer[] | null = null;
  let streams = false;

  /** @returns how many bytes of the chunk it used up */
  function readLength(chunk: Buffer): number {
    const used = chunk.copy(length, lengthBytes, 0, LENGTH_BYTES - lengthBytes);
    lengthBytes += used;
    if (lengthBytes < LENGTH_BYTES) return used;
    lengthBytes = 0;
    const value = lengthOfPacket(length, 0);
    const mark = packetMarkOf(value);
    if (mark !== undefined) handler.packet(mark);
    else if (value === LENGTH_BYTES) handler.packet({ kind: 'line', payload: Buffer.alloc(0) });
    else {
      left = value - LENGTH_BYTES;
      parts = null;
    }
    return used;
  }

  /** @returns as `readLength` */
  function readPayload(chunk: Buffer): number {
    const isFirst = parts === null;
    parts ??= [];
    if (isFirst) streams = handler.inPieces(chunk[0] ?? 0);
    const bytes = chunk.subarray(0, left);
    left -= bytes.length;
    if (streams) handler.piece(isFirst ? bytes.subarray(1) : bytes);
    else parts.push(Buffer.from(bytes));
    if (left === 0 && !streams) handler.packet({ kind: 'line', payload: Buffer.concat(parts) });
    return bytes.length;
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        const rest = chunk.subarray(at);
        at += left > 0 ? readPayload(rest) : readLength(rest);
      }
    },
    isWhole: () => left === 0 && lengthBytes === 0,
  };
}
