import { GitError } from '../errors.ts';

/** One piece of git's framing (gitprotocol-common, pkt-line). */
export type Packet =
  | { readonly kind: 'line'; readonly payload: Buffer }
  | { readonly kind: 'flush' }
  | { readonly kind: 'delimiter' }
  | { readonly kind: 'end-of-response' };

const MARKS: Readonly<Record<number, Packet>> = {
  0: { kind: 'flush' },
  1: { kind: 'delimiter' },
  2: { kind: 'end-of-response' },
};

/** What a length below four means; undefined for any other. */
export const packetMarkOf = (length: number): Packet | undefined => MARKS[length];

/** More than the refs that an answer has room for (`advertisementBytes`): smaller packets take far more memory than they have bytes. */
const MOST_PACKETS = 300_000;

/**
 * Takes an answer apart. Payloads are views into it.
 *
 * @throws GitError `GIT_CUT` where a packet is not whole, `GIT_NOT_GIT` where there is none, `GIT_TOO_BIG` where there are too many
 */
export function readPackets(bytes: Buffer): readonly Packet[] {
  const packets: Packet[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw truncatedError();
    if (packets.length === MOST_PACKETS) throw tooMany();
    const length = lengthOfPacket(bytes, at);
    const mark = packetMarkOf(length);
    if (mark !== undefined) {
      packets.push(mark);
      at += 4;
      continue;
    }
    if (at + length > bytes.length) throw truncatedError();
    packets.push({ kind: 'line', payload: bytes.subarray(at + 4, at + length) });
    at += length;
  }
  return packets;
}

/**
 * The length of a packet, its own four bytes included; less than four for a mark.
 *
 * @throws GitError `GIT_NOT_GIT`
 */
export function lengthOfPacket(bytes: Buffer, at: number): number {
  const hex = bytes.toString('latin1', at, at + 4);
  const length = /^[0-9a-f]{4}$/i.test(hex) ? Number.parseInt(hex, 16) : 3;
  if (length === 3) throw new GitError('GIT_NOT_GIT', 'the answer is not of git’s protocol: is this a git server?');
  return length;
}

/** An answer has to end with a flush: one that ends without was cut, however cleanly. */
export function assertWhole(packets: readonly Packet[]): void {
  if (packets.at(-1)?.kind !== 'flush') throw truncatedError();
}

/** The error for an answer that does not go on to its end. */
export function truncatedError(): GitError {
  return new GitError('GIT_CUT', 'the server’s answer ends too early: it, or a proxy before it, gave up half-way');
}

function tooMany(): GitError {
  const what = `the git server’s answer has more than the ${MOST_PACKETS} lines that are read: does the repository hold that many refs?`;
  return new GitError('GIT_TOO_BIG', what);
}

/** A line without the line break at its end. */
export function textOf(packet: Packet): string {
  return packet.kind === 'line' ? packet.payload.toString('utf8').replace(/\n$/, '') : '';
}

export const FLUSH = Buffer.from('0000');

/** A line with its length before it; `text` brings its own line break. */
export function packetLine(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, '0')), payload]);
}
