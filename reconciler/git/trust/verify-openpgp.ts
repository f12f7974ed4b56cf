import type { Key, PublicKey } from 'openpgp';
import { plainLine } from '../plain-text.ts';
import { untrusted, type SignatureVerdict } from '../../policy/commit-snapshot.ts';

/** The library is loaded where there is such a key or signature, and not otherwise: it is larger than all the rest. */
const library = () => import('openpgp');

/** Keys of an OpenPGP file, armoured or binary. Throws the library's error for a file without keys. */
export async function readOpenPgpKeys(bytes: Buffer): Promise<readonly Key[]> {
  const { readKeys } = await library();
  const armoured = bytes.toString('latin1', 0, 200).includes('-----BEGIN PGP');
  const keys = await (armoured
    ? readKeys({ armoredKeys: bytes.toString('latin1') })
    : readKeys({ binaryKeys: new Uint8Array(bytes) }));
  if (keys.length === 0) throw new Error('there is no key in it');
  if (keys.some((key) => key.isPrivate())) throw new Error('it holds a private key, which does not belong here');
  return keys;
}

/** One frame with nothing before and nothing behind it: the library takes the first of several, gpg takes none. */
const ONE_FRAME = /^-----BEGIN PGP SIGNATURE-----\r?\n(?:(?!-----)[^\n]*\n)*-----END PGP SIGNATURE-----\s*$/;

/**
 * Whether one of the keys made this signature over these bytes, is fit to sign, and is neither expired nor revoked now:
 * an expired key is refused even for what it signed in time, as git and gpg have it.
 */
export async function verifyOpenPgp(
  payload: Uint8Array,
  armoured: string,
  keys: readonly Key[],
  now: Date,
): Promise<SignatureVerdict> {
  if (!ONE_FRAME.test(armoured))
    return untrusted('is not one signature alone: there are several, or something beside it');
  const { createMessage, readSignature, verify } = await library();
  let result;
  try {
    const signature = await readSignature({ armoredSignature: armoured });
    if (signature.packets.length !== 1) return untrusted('is not one signature, but several');
    const message = await createMessage({ binary: new Uint8Array(payload) });
    const verificationKeys = keys as PublicKey[];
    const { signatures } = await verify({ message, signature, verificationKeys, format: 'binary', date: now });
    result = signatures[0];
  } catch {
    return untrusted('cannot be used: it is damaged or of an unknown kind');
  }
  if (result === undefined) return untrusted('cannot be used: it is damaged or of an unknown kind');
  const signingId = result.keyID;
  const key = keys.find((candidate) => candidate.getKeys(signingId).length > 0);
  if (key === undefined) return untrusted(`is of a key that is not trusted, ${signingId.toHex().toUpperCase()}`);
  const shown = key.getFingerprint().toUpperCase();
  try {
    await result.verified;
  } catch (error) {
    return untrusted(`does not hold (key ${shown}): ${reason(error)}`);
  }
  try {
    await key.getSigningKey(signingId, now);
  } catch (error) {
    return untrusted(`is of the key ${shown}, which is no longer good: ${reason(error)}`);
  }
  return { verdict: 'trusted', signer: plainLine(key.getUserIDs()[0] ?? 'no name', 100), key: shown };
}

const reason = (error: unknown): string => plainLine(error instanceof Error ? error.message : 'no reason given', 200);
