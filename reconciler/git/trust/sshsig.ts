import { createHash } from 'node:crypto';
import { readSshKey, type SshKey } from './ssh-key.ts';
import { readWire, WireError, wireString } from './ssh-wire.ts';

/** An SSH signature (openssh-portable, PROTOCOL.sshsig), taken apart and not yet believed. */
interface SshSignature {
  /** The key that it says it is of. Whether anybody trusts that key is another question. */
  readonly key: SshKey;
  readonly keyBlob: Buffer;
  /** What it was made for, so that one made for a file is none for a commit. */
  readonly namespace: string;
  readonly verifies: (message: Uint8Array) => boolean;
  /** Whether it is written as ssh-keygen writes it, so that no other text is the same signature. */
  readonly isCanonical: boolean;
}

export const MAGIC = 'SSHSIG';
const HASHES: ReadonlySet<string> = new Set(['sha256', 'sha512']);
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';

/** @throws WireError for a damaged signature, an unknown version, or an unsupported key */
export function readSshSignature(armoured: string): SshSignature {
  const blob = Buffer.from(base64In(armoured), 'base64');
  const wire = readWire(blob);
  if (wire.raw(MAGIC.length).toString('latin1') !== MAGIC) throw new WireError('it is not an SSH signature');
  const version = wire.uint32();
  if (version !== 1) throw new WireError(`its version is ${version}`);
  const keyBlob = wire.bytes();
  const namespace = wire.text();
  const reserved = wire.bytes();
  const hash = wire.text();
  const signature = wire.bytes();
  wire.end();
  if (!HASHES.has(hash)) throw new WireError('its hash is not supported');
  const key = readSshKey(keyBlob);
  return {
    key,
    keyBlob,
    namespace,
    isCanonical: armourSshSignature(blob) === armoured,
    verifies(message) {
      const digest = createHash(hash).update(message).digest();
      return key.verifies(signedBytes(namespace, reserved, hash, digest), signature);
    },
  };
}

/** The one form that ssh-keygen writes: lines of 70 characters. */
export function armourSshSignature(blob: Uint8Array): string {
  const lines =
    Buffer.from(blob)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return `${[BEGIN, ...lines, END].join('\n')}\n`;
}

/** What an SSH signature is over, of a message with this digest. */
export const signedBytes = (namespace: string, reserved: Uint8Array, hash: string, digest: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(MAGIC), ...[namespace, reserved, hash, digest].map(wireString)]);

/** What stands between the first line and the last one. */
function base64In(armoured: string): string {
  const text = armoured.trimEnd();
  const between = text.slice(BEGIN.length, -END.length);
  const framed = text.startsWith(BEGIN) && text.endsWith(END) && text.length > BEGIN.length + END.length;
  if (framed && /^\r?\n[A-Za-z0-9+/=\r\n]+\n$/.test(between)) return between;
  throw new WireError('its frame is damaged');
}
