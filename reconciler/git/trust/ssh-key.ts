import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { readWire, WireError, type WireReader } from './ssh-wire.ts';

/** Types of keys that signatures are taken from. DSA is not among them, and neither are certificates. */
type SshKeyType =
  | 'ssh-ed25519'
  | 'ssh-rsa'
  | 'ecdsa-sha2-nistp256'
  | 'ecdsa-sha2-nistp384'
  | 'ecdsa-sha2-nistp521'
  | 'sk-ssh-ed25519@openssh.com'
  | 'sk-ecdsa-sha2-nistp256@openssh.com';

/** A public key that can say whether a signature is its own. */
export interface SshKey {
  readonly type: SshKeyType;
  /** `SHA256:…`, as ssh-keygen shows it. */
  readonly fingerprint: string;
  /** @param signature as RFC 4253, 6.6 has it: the algorithm's name, then its bytes */
  verifies(data: Uint8Array, signature: Uint8Array): boolean;
}

interface Curve {
  readonly crv: string;
  readonly size: number;
  readonly hash: string;
}

/** RFC 5656, 6.2.1: each curve has its hash. */
const CURVES: Readonly<Record<string, Curve>> = {
  nistp256: { crv: 'P-256', size: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', size: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', size: 66, hash: 'sha512' },
};
/** RFC 8332. `ssh-rsa` means SHA-1, which no signature may rest on. */
const RSA_HASHES: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };
const SHORTEST_RSA_BITS = 2048;
/** The holder touched the token (FIDO2, "user present"). */
const TOUCHED = 0x01;

/** @throws WireError where the key is damaged, of another type, or too weak */
export function readSshKey(blob: Uint8Array): SshKey {
  const wire = readWire(blob);
  const type = wire.text();
  const digest = createHash('sha256').update(blob).digest('base64').replace('=', '');
  const fingerprint = `SHA256:${digest}`;
  const key = (known: SshKeyType, verifies: SshKey['verifies']): SshKey => {
    wire.end();
    return { type: known, fingerprint, verifies: (data, signature) => quietly(() => verifies(data, signature)) };
  };
  switch (type) {
    case 'ssh-ed25519': {
      const ed25519 = ed25519Key(wire);
      return key(type, (data, signature) => verify(null, data, ed25519, onlySignature(signature, type)));
    }
    case 'sk-ssh-ed25519@openssh.com': {
      const ed25519 = ed25519Key(wire);
      const application = wire.bytes();
      return key(type, (data, signature) => {
        const token = tokenSignature(signature, type, application, data);
        return token.touched && verify(null, token.signed, ed25519, token.signature);
      });
    }
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521': {
      const { curve, ecdsa } = ecdsaKey(wire);
      if (type !== `ecdsa-sha2-${curve}`) throw new WireError('its curve is another than it says');
      return key(type, (data, signature) => verifyEcdsa(curve, ecdsa, data, onlySignature(signature, type)));
    }
    case 'sk-ecdsa-sha2-nistp256@openssh.com': {
      const { curve, ecdsa } = ecdsaKey(wire);
      if (curve !== 'nistp256') throw new WireError('its curve is another than it says');
      const application = wire.bytes();
      return key(type, (data, signature) => {
        const token = tokenSignature(signature, type, application, data);
        return token.touched && verifyEcdsa(curve, ecdsa, token.signed, token.signature);
      });
    }
    case 'ssh-rsa': {
      const rsa = rsaKey(wire);
      return key(type, (data, signature) => verifyRsa(rsa, data, signature));
    }
    default:
      throw new WireError(`its type is ${/^[\w@.-]{1,60}$/.test(type) ? type : 'unknown'}, which is not supported`);
  }
}

/** OpenSSL throws for points off the curve and the like: such a signature is no signature. */
function quietly(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

const fromJwk = (key: JsonWebKey): KeyObject => {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    throw new WireError('it is not a valid key of its type');
  }
};

const url = (bytes: Buffer): string => bytes.toString('base64url');

function ed25519Key(wire: WireReader): KeyObject {
  const point = wire.bytes();
  if (point.length !== 32) throw new WireError('it has the wrong length');
  return fromJwk({ kty: 'OKP', crv: 'Ed25519', x: url(point) });
}

function ecdsaKey(wire: WireReader): { readonly curve: string; readonly ecdsa: KeyObject } {
  const curve = wire.text();
  const point = wire.bytes();
  const known = Object.hasOwn(CURVES, curve) ? CURVES[curve] : undefined;
  // Uncompressed points only, as RFC 5656 wants them here.
  if (known === undefined || point.length !== 1 + 2 * known.size || point[0] !== 4) {
    throw new WireError('its point is not one of a known curve');
  }
  const [x, y] = [point.subarray(1, 1 + known.size), point.subarray(1 + known.size)];
  return { curve, ecdsa: fromJwk({ kty: 'EC', crv: known.crv, x: url(x), y: url(y) }) };
}

function rsaKey(wire: WireReader): KeyObject {
  const [e, n] = [wire.integer(), wire.integer()];
  if (n.length * 8 < SHORTEST_RSA_BITS) throw new WireError(`it is shorter than ${SHORTEST_RSA_BITS} bits`);
  return fromJwk({ kty: 'RSA', n: url(n), e: url(e) });
}

/** The bytes of a signature of this type with nothing after it. */
function onlySignature(signature: Uint8Array, type: string): Buffer {
  const wire = readWire(signature);
  if (wire.text() !== type) throw new WireError('it is of another type');
  const bytes = wire.bytes();
  wire.end();
  return bytes;
}

function verifyEcdsa(curve: string, key: KeyObject, data: Uint8Array, signature: Buffer): boolean {
  const known = CURVES[curve];
  if (known === undefined) return false;
  const wire = readWire(signature);
  const numbers = [wire.integer(), wire.integer()];
  wire.end();
  if (numbers.some((number) => number.length > known.size)) return false;
  const padded = numbers.map((number) => Buffer.concat([Buffer.alloc(known.size - number.length), number]));
  return verify(known.hash, data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(padded));
}

function verifyRsa(key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  const wire = readWire(signature);
  const algorithm = wire.text();
  const hash = Object.hasOwn(RSA_HASHES, algorithm) ? RSA_HASHES[algorithm] : undefined;
  const bytes = wire.bytes();
  wire.end();
  if (hash === undefined) return false;
  const length = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (bytes.length > length) return false;
  // Leading zeros may be missing (openssh-portable, ssh-rsa.c).
  return verify(hash, data, key, Buffer.concat([Buffer.alloc(length - bytes.length), bytes]));
}

/** What a security token signs (openssh-portable, PROTOCOL.u2f): the application, its flags and counter, and the data. */
function tokenSignature(
  signature: Uint8Array,
  type: string,
  application: Buffer,
  data: Uint8Array,
): { readonly touched: boolean; readonly signed: Buffer; readonly signature: Buffer } {
  const wire = readWire(signature);
  if (wire.text() !== type) throw new WireError('it is of another type');
  const bytes = wire.bytes();
  const flagsAndCounter = wire.raw(5);
  wire.end();
  const sha256 = (content: Uint8Array): Buffer => createHash('sha256').update(content).digest();
  const signed = Buffer.concat([sha256(application), flagsAndCounter, sha256(data)]);
  return { touched: ((flagsAndCounter[0] ?? 0) & TOUCHED) !== 0, signed, signature: bytes };
}
