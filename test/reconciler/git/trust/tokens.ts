import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { wireString } from '#reconciler/git/trust/ssh-wire.ts';

export const sha = (hash: 'sha256' | 'sha512', content: Uint8Array): Buffer =>
  createHash(hash).update(content).digest();

/** A security token as OpenSSH has it, without the hardware. */
export interface Token {
  readonly type: string;
  readonly blob: Buffer;
  /** @param flags 1: touched, 4: the PIN was given, 0: neither */
  sign(data: Uint8Array, flags: number): Buffer;
}

const APPLICATION = 'ssh:';

export function ed25519Token(): Token {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const type = 'sk-ssh-ed25519@openssh.com';
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    type,
    blob: Buffer.concat([type, point, APPLICATION].map(wireString)),
    sign: (data, flags) => wrap(type, flags, sign(null, signedBy(data, flags), privateKey)),
  };
}

export function ecdsaToken(): Token {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const type = 'sk-ecdsa-sha2-nistp256@openssh.com';
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return {
    type,
    blob: Buffer.concat([type, 'nistp256', point, APPLICATION].map(wireString)),
    sign: (data, flags) => wrap(type, flags, ecdsa(signedBy(data, flags), privateKey)),
  };
}

function ecdsa(data: Buffer, key: KeyObject): Buffer {
  const both = sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });
  return Buffer.concat([both.subarray(0, 32), both.subarray(32)].map(integer).map(wireString));
}

/** Without leading zeros, and with one where the number would be negative. */
function integer(bytes: Buffer): Buffer {
  const digits = bytes.subarray(
    Math.max(
      0,
      bytes.findIndex((byte) => byte !== 0),
    ),
  );
  return (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits;
}

const flagsAndCounter = (flags: number): Buffer => Buffer.from([flags, 0, 0, 0, 7]);

const signedBy = (data: Uint8Array, flags: number): Buffer =>
  Buffer.concat([sha('sha256', Buffer.from(APPLICATION)), flagsAndCounter(flags), sha('sha256', data)]);

const wrap = (type: string, flags: number, signature: Buffer): Buffer =>
  Buffer.concat([wireString(type), wireString(signature), flagsAndCounter(flags)]);
