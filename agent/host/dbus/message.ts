import { GitopsError } from '#shared/runtime/errors.ts';
import { unmarshal } from './unmarshal.ts';
import type { DBusValue, Variant } from './value.ts';
import { marshal } from './marshal.ts';

type MessageKind = 'call' | 'return' | 'error' | 'signal';

/** What goes over the bus. Which header fields there are depends on the kind. */
export interface Message {
  readonly kind: MessageKind;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly sender?: string;
  readonly signature: string;
  readonly body: readonly DBusValue[];
}

/**
 * The protocol allows 128 MiB. Everything that is asked for here is a few kilobytes; a peer that sends more is not
 * trusted.
 */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Bytes that the length of a message can be read from. */
export const PREFIX_BYTES = 16;

const LITTLE_ENDIAN = 'l'.charCodeAt(0);
const BIG_ENDIAN = 'B'.charCodeAt(0);
const PROTOCOL = 1;
const KINDS: readonly (MessageKind | undefined)[] = [undefined, 'call', 'return', 'error', 'signal'];

/** Codes and types of the header fields (D-Bus specification, "Header Fields"); number 9, file descriptors, is not used. */
const FIELDS = {
  path: [1, 'o'],
  interface: [2, 's'],
  member: [3, 's'],
  errorName: [4, 's'],
  replySerial: [5, 'u'],
  destination: [6, 's'],
  sender: [7, 's'],
  signature: [8, 'g'],
} as const;

/** The message as it goes over the socket, little-endian (D-Bus Specification, "Message Format"). */
export function encodeMessage(message: Message): Buffer {
  const body = marshal(message.signature, message.body);
  const fields = Object.entries(FIELDS).flatMap(([name, [code, signature]]) => {
    const value = message[name as keyof typeof FIELDS];
    return value === undefined || value === '' ? [] : [[code, { signature, value }] as const];
  });
  const kind = KINDS.indexOf(message.kind);
  const head = marshal('yyyyuua(yv)', [LITTLE_ENDIAN, kind, 0, PROTOCOL, body.length, message.serial, fields]);
  return Buffer.concat([head, Buffer.alloc(padding(head.length)), body]);
}

/**
 * How many bytes the message has that begins with these (at least `PREFIX_BYTES`).
 *
 * @throws GitopsError BUS_PROTOCOL for anything but a message, and for one beyond `MAX_MESSAGE_BYTES`
 */
export function messageLength(bytes: Buffer): number {
  const [endian, , , protocol] = bytes;
  if ((endian !== LITTLE_ENDIAN && endian !== BIG_ENDIAN) || protocol !== PROTOCOL) {
    throw new GitopsError('BUS_PROTOCOL', 'what came over the bus is not a D-Bus message');
  }
  const read = (at: number): number => (endian === LITTLE_ENDIAN ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const head = PREFIX_BYTES + read(12);
  const length = head + padding(head) + read(4);
  if (length > MAX_MESSAGE_BYTES) {
    throw new GitopsError(
      'BUS_PROTOCOL',
      `a message of ${length} bytes came over the bus; at most ${MAX_MESSAGE_BYTES}`,
    );
  }
  return length;
}

/** @param bytes one whole message */
export function decodeMessage(bytes: Buffer): Message {
  const littleEndian = bytes[0] === LITTLE_ENDIAN;
  const [, kind, , , bodyLength, serial, fields] = unmarshal('yyyyuua(yv)', bytes, littleEndian);
  const known = new Map((fields as readonly (readonly [number, Variant])[]).map(([code, { value }]) => [code, value]));
  const text = (name: keyof typeof FIELDS): string | undefined => {
    const value = known.get(FIELDS[name][0]);
    return typeof value === 'string' ? value : undefined;
  };
  const signature = text('signature') ?? '';
  const body = bytes.subarray(bytes.length - Number(bodyLength));
  const replySerial = known.get(FIELDS.replySerial[0]);
  return {
    // Unknown kinds have to be ignored, as a signal without a listener is.
    kind: KINDS[Number(kind)] ?? 'signal',
    serial: Number(serial),
    ...present('path', text('path')),
    ...present('interface', text('interface')),
    ...present('member', text('member')),
    ...present('errorName', text('errorName')),
    ...present('replySerial', typeof replySerial === 'number' ? replySerial : undefined),
    ...present('destination', text('destination')),
    ...present('sender', text('sender')),
    signature,
    body: unmarshal(signature, body, littleEndian),
  };
}

/** The body starts at a multiple of eight, so that its own alignment counts from its start. */
const padding = (length: number): number => (8 - (length % 8)) % 8;

function present<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: V });
}
