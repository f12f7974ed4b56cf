import { type AllowedSigner, allows, type SignedAt } from './allowed-signers.ts';
import { readSshSignature } from './sshsig.ts';
import { untrusted, type SignatureVerdict } from '../../policy/commit-snapshot.ts';

/** What git signs commits for. */
const NAMESPACE = 'git';

/**
 * Whether one of the signers made this signature over these bytes.
 *
 * @param at when the signer has to have been allowed: git takes the commit's own time alone
 */
export function verifySsh(
  payload: Uint8Array,
  armoured: string,
  signers: readonly AllowedSigner[],
  at: SignedAt,
): SignatureVerdict {
  let signature;
  try {
    signature = readSshSignature(armoured);
  } catch (error) {
    return untrusted(`cannot be used: ${error instanceof Error ? error.message : 'it is damaged'}`);
  }
  const { key, keyBlob, namespace } = signature;
  if (namespace !== NAMESPACE) return untrusted('was made for something else than git commits');
  if (!signature.verifies(payload)) return untrusted('does not fit what the commit says: it was changed');
  const known = signers.filter((signer) => signer.keyBlob.equals(keyBlob));
  if (known.length === 0) return untrusted(`is of a key that is not trusted, ${key.fingerprint}`);
  const allowed = known.find((signer) => allows(signer, namespace, at));
  if (allowed === undefined) {
    const late = known.some((signer) => allows(signer, namespace, { stated: at.stated, seen: at.stated }));
    const when = late ? 'when it was first seen here, though it is dated within the key’s time' : 'at that time';
    return untrusted(`is of the key ${key.fingerprint}, which was not allowed to sign commits ${when}`);
  }
  return { verdict: 'trusted', signer: allowed.principals, key: key.fingerprint };
}
