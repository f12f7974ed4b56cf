import type { Millis } from '#shared/runtime/clock.ts';
import { type SignatureVerdict, untrusted } from '../../policy/commit-snapshot.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import { verifyOpenPgp } from './verify-openpgp.ts';
import { verifySsh } from './verify-ssh.ts';

/** What was signed, and when. */
export interface Signed {
  readonly payload: Buffer;
  readonly signature: string;
  /** As the signer says, in seconds since the epoch; null where that cannot be read. */
  readonly statedAt: number | null;
  /** When it was seen here first. */
  readonly seenAt: Millis;
}

/** Whether one of the keys made a signature, of whatever kind it is. Rejects with what the readers of keys throw. */
export async function verifySignature(
  { payload, signature, statedAt, seenAt }: Signed,
  keys: TrustedKeys,
  now: Millis,
): Promise<SignatureVerdict> {
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) {
    const seen = seenAt / 1000;
    return verifySsh(payload, signature, keys.ssh, { stated: statedAt ?? seen, seen });
  }
  if (signature.startsWith('-----BEGIN PGP SIGNATURE-----')) {
    return verifyOpenPgp(payload, signature, keys.openPgp, new Date(now));
  }
  return untrusted('is neither of SSH nor of OpenPGP, which alone are supported');
}
