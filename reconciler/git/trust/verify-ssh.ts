import { type AllowedSigner, allows } from './allowed-signers.ts';
import { readSshSignature } from './sshsig.ts';
import { untrusted, type SignatureVerdict } from '../../policy/commit.ts';

/** What git signs commits for. */
const NAMESPACE = 'git';

/**
 * Whether one of the signers made this signature over these bytes.
 *
 * @param at seconds since the epoch at which the signer has to have been allowed: git takes the commit's own time
 */
export function verifySsh(
  payload: Uint8Array,
  armoured: string,
  signers: readonly AllowedSigner[],
  at: number,
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
    return untrusted(`is of the key ${key.fingerprint}, which was not allowed to sign commits at that time`);
  }
  return { verdict: 'trusted', signer: allowed.principals, key: key.fingerprint };
}
