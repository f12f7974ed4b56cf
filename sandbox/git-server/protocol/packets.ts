import { GitServerError } from '#sandbox/git-server/errors.ts';

/** One pkt-line of the git protocol; `end` means that the bytes are used up. */
export type Packet =
  | { readonly kind: 'line'; readonly payload: Buffer }
  | { readonly kind: 'flush' }
  | { readonly kind: 'delimiter' }
  | { readonly kind: 'end' };

export interface PacketReader {
  /** @throws GitServerError `GIT_REQUEST_MALFORMED` */
  next(): Packet;
  /** The lines up to the next flush or delimiter (or the end), without their line feeds. */
  section(): readonly string[];
  /** What follows the packets read so far: a pack. */
  rest(): Buffer;
}

export const FLUSH = Buffer.from('0000');
export const DELIMITER = Buffer.from('0001');

/** Longest packet of the protocol, header included (gitprotocol-common). */
const MAX_PACKET = 65_520;

export function readPackets(bytes: Buffer): PacketReader {
  let at = 0;
  const next = (): Packet => {
    if (at === bytes.length) return { kind: 'end' };
    const digits = bytes.toString('latin1', at, at + 4);
    const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0 || length === 1) {
      at += 4;
      return { kind: length === 0 ? 'flush' : 'delimiter' };
    }
    if (!(length >= 4 && length <= MAX_PACKET && at + length <= bytes.length)) {
      throw new GitServerError('GIT_REQUEST_MALFORMED', `no packet line at byte ${at} of the request`);
    }
    const payload = bytes.subarray(at + 4, at + length);
    at += length;
    return { kind: 'line', payload };
  };
  const section = (): readonly string[] => {
    const lines: string[] = [];
    for (let packet = next(); packet.kind === 'line'; packet = next()) lines.push(textOf(packet.payload));
    return lines;
  };
  return { next, section, rest: () => bytes.subarray(at) };
}

/** A packet of text or bytes; `\n` is the caller's to add. */
export function packet(payload: string | Buffer): Buffer {
  const body = Buffer.from(payload);
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, '0')), body]);
}

/** Bytes on side-band channel 1, in packets of the largest size. The flush after it is the caller's. */
export function sideBand(bytes: Buffer): Buffer {
  const room = MAX_PACKET - 5;
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += room) {
    parts.push(packet(Buffer.concat([Buffer.from([1]), bytes.subarray(at, at + room)])));
  }
  return Buffer.concat(parts);
}

/** A packet's text without the line feed that may end it. */
export function textOf(payload: Buffer): string {
  return payload.toString('utf8').replace(/\n$/, '');
}
