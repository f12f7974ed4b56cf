import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { FollowedRepository } from './git/following/followed-repository.ts';
import type { CommitOid } from './policy/commit-snapshot.ts';
import type { Follows } from './policy/config-repo/loaded-repo.ts';
import type { SeenNotes } from './policy/following/choose-commit.ts';
import { signersOf } from './policy/following/follows.ts';
import type { PayloadProofs } from './policy/following/payload-proofs.ts';
import { judgeSerial, newestSeen, type SeenSerial, staleness, withSeen } from './policy/following/notes-serial.ts';

/** What followed clusters say. */
export interface LookedAt {
  readonly notes: ReadonlyMap<string, SeenNotes>;
  readonly distrusted: ReadonlyMap<string, string>;
  readonly serials: readonly SeenSerial[];
  readonly proven: ReadonlyMap<string, PayloadProofs | null>;
}

type NotesLook = (
  follows: Follows,
  commits: readonly CommitOid[],
  before: readonly SeenSerial[],
  signal: AbortSignal,
) => Promise<LookedAt>;

/** Reads the notes of followed clusters. Notes that cannot be read are part of the result, and are logged once. */
export function createNotesLook({
  repository,
  clock,
  log,
}: {
  readonly repository: Pick<FollowedRepository, 'notes'>;
  readonly clock: Clock;
  readonly log: Log;
}): NotesLook {
  const failing = new Map<string, string>();

  return async (follows, commits, before, signal) => {
    const notes = new Map<string, SeenNotes>();
    const distrusted = new Map<string, string>();
    const proven = new Map<string, PayloadProofs | null>();
    let serials = before;
    const tell = (cluster: string, because: string, err?: unknown): void => {
      notes.set(cluster, null);
      if (failing.get(cluster) !== because)
        log.warn({ followed: cluster, because, err }, 'notes of the followed cluster do not count');
      failing.set(cluster, because);
    };
    for (const cluster of follows.clusters) {
      const question = { commits, signers: signersOf(follows, cluster) };
      const known = newestSeen(serials, cluster, question.signers);
      try {
        const { said, signed, payloads, ...read } = await repository.notes(cluster, question, signal);
        const judged = signed && judgeSerial({ cluster, ...signed }, known, clock.now());
        if (judged) serials = withSeen(serials, judged.seen, follows);
        const because = read.distrusted ?? judged?.because ?? null;
        if (because !== null) {
          distrusted.set(cluster, because);
          tell(cluster, because);
          continue;
        }
        notes.set(cluster, said);
        proven.set(cluster, payloads);
        if (failing.delete(cluster)) log.info({ followed: cluster }, 'notes of the followed cluster count again');
      } catch (error) {
        if (signal.aborted) throw error;
        // Whoever may push the ref may make it unreadable.
        const because = staleness(known, clock.now());
        if (because !== null) distrusted.set(cluster, because);
        tell(cluster, reasonOf(error), error);
      }
    }
    return { notes, distrusted, proven, serials };
  };
}
