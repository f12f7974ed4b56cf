import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { armourSshSignature, MAGIC, signedBytes } from './sshsig.ts';
import { readWire, WireError, wireString } from './ssh-wire.ts';

/** A private key of our own. */
export interface SigningKey {
  /** `ssh-ed25519 AAAA…`, as its `.pub` file begins. */
  readonly publicLine: string;
  /** @returns an armoured SSH signature (openssh-portable, PROTOCOL.sshsig), as `ssh-keygen -Y sign -n NAMESPACE` makes it */
  sign(message: Uint8Array, namespace: string): string;
}

const TYPE = 'ssh-ed25519';
const HASH = 'sha512';
const OPENSSH = /^-----BEGIN OPENSSH PRIVATE KEY-----\n([A-Za-z0-9+/=\n]+)\n-----END OPENSSH PRIVATE KEY-----$/;
const AUTH_MAGIC = 'openssh-key-v1\0';
const LARGEST_FILE = 16 * 1024;

/**
 * Reads the key as it is now: it may have been replaced.
 *
 * @throws GitopsError `SIGNING_KEY_UNUSABLE`; its message contains no part of the key
 */
export async function signingKeyIn(file: string): Promise<SigningKey> {
  const unusable = (why: string): GitopsError =>
    new GitopsError(
      'SIGNING_KEY_UNUSABLE',
      `notes cannot be signed: NOTES_SIGNING_KEY_PATH is ${file}, and ${why}. Make one with: ssh-keygen -t ed25519 -N "" -f key`,
    );
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(`it cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
  }
  try {
    if (text.length > LARGEST_FILE) throw new WireError('it is too large for a key');
    return readSigningKey(text);
  } catch (error) {
    throw unusable(error instanceof WireError ? error.message : 'it is not a private key');
  }
}

/**
 * An Ed25519 key without a passphrase, as ssh-keygen writes it (openssh-portable, PROTOCOL.key) or in PKCS #8.
 *
 * @throws WireError or an error of OpenSSL for anything else
 */
export function readSigningKey(text: string): SigningKey {
  const openSsh = OPENSSH.exec(text.replaceAll('\r\n', '\n').trim());
  const key = openSsh === null ? createPrivateKey(text) : fromOpenSsh(Buffer.from(openSsh[1] ?? '', 'base64'));
  if (key.asymmetricKeyType !== 'ed25519') throw new WireError('its type is not ed25519');
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const blob = Buffer.concat([wireString(TYPE), wireString(Buffer.from(x, 'base64url'))]);
  return {
    publicLine: `${TYPE} ${blob.toString('base64')}`,
    sign(message, namespace) {
      const nothing = Buffer.alloc(0);
      const digest = createHash(HASH).update(message).digest();
      const bytes = sign(null, signedBytes(namespace, nothing, HASH, digest), key);
      const signature = Buffer.concat([wireString(TYPE), wireString(bytes)]);
      const version = Buffer.from([0, 0, 0, 1]);
      const parts = [blob, namespace, nothing, HASH, signature].map(wireString);
      return armourSshSignature(Buffer.concat([Buffer.from(MAGIC), version, ...parts]));
    },
  };
}

function fromOpenSsh(bytes: Buffer): KeyObject {
  const wire = readWire(bytes);
  if (wire.raw(AUTH_MAGIC.length).toString('latin1') !== AUTH_MAGIC) throw new WireError('it is not a key of OpenSSH');
  const cipher = wire.text();
  if (cipher !== 'none') throw new WireError('it has a passphrase, which nobody could enter');
  wire.text();
  wire.bytes();
  if (wire.uint32() !== 1) throw new WireError('it holds several keys');
  wire.bytes();
  const own = readWire(wire.bytes());
  if (own.uint32() !== own.uint32()) throw new WireError('it is damaged');
  if (own.text() !== TYPE) throw new WireError('its type is not ed25519');
  const x = own.bytes();
  const seedAndPoint = own.bytes();
  if (x.length !== 32 || seedAndPoint.length !== 64) throw new WireError('it is damaged');
  const d = seedAndPoint.subarray(0, 32).toString('base64url');
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x: x.toString('base64url') }, format: 'jwk' });
}
