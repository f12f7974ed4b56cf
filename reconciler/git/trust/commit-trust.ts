import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Commit } from '../../policy/commit.ts';
import { splitCommit } from './signed-commit.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import { type SignatureVerdict, untrusted } from '../../policy/commit.ts';
import { verifyOpenPgp } from './verify-openpgp.ts';
import { verifySsh } from './verify-ssh.ts';

/** Says whether a trusted person vouches for a commit. */
export interface CommitTrust {
  /** Never rejects: what cannot be judged is not trusted. */
  judge(commit: Pick<Commit, 'oid' | 'raw'>): Promise<SignatureVerdict>;
}

/** Where signatures are not asked for. */
export const TRUST_EVERYBODY: CommitTrust = { judge: () => Promise.resolve({ verdict: 'not-required' }) };

export interface CommitTrustOptions {
  readonly keys: () => Promise<TrustedKeys>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Only the commit itself is judged, because its signature covers its tree, and so every file, and the names of its parents: who
 * signs a tip vouches for all of it. A merge is a commit like any other, signed by who merged.
 */
export function createCommitTrust({ keys, clock, log }: CommitTrustOptions): CommitTrust {
  let complained = '';

  return {
    async judge({ raw }) {
      const split = splitCommit(raw);
      if (!split.signed) return { verdict: 'unsigned' };
      try {
        const trusted = await keys();
        complain(trusted.unusable);
        const { payload, signature } = split;
        if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) {
          return verifySsh(payload, signature, trusted.ssh, split.committedAt ?? clock.now() / 1000);
        }
        if (signature.startsWith('-----BEGIN PGP SIGNATURE-----')) {
          return await verifyOpenPgp(payload, signature, trusted.openPgp, new Date(clock.now()));
        }
        return untrusted('is neither of SSH nor of OpenPGP, which alone are supported');
      } catch (error) {
        return untrusted(`could not be checked: ${reasonOf(error)}`);
      }
    },
  };

  function complain(unusable: readonly string[]): void {
    const now = unusable.join('\n');
    if (now === complained) return;
    complained = now;
    for (const why of unusable) log.warn({ because: why }, 'trusted key cannot be used');
  }
}
