import type { Millis } from '#shared/runtime/clock.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';

/** A commit of notes that a cluster signed. */
export interface SignedNotes {
  /** Only grows. */
  readonly serial: number;
  /** The commit. */
  readonly tip: CommitOid;
}

/** The newest that was seen of a followed cluster. */
export interface SeenSerial extends SignedNotes {
  readonly cluster: string;
  /** When it was first seen. */
  readonly since: Millis;
}

/** A cluster signs anew after so long, also where it has nothing else to say: so that whoever holds its notes back is noticed. */
export const SIGN_AGAIN_MS = 60 * 60_000;
/** Notes that have not been signed anew for so long do not count. */
const FRESH_FOR_MS = 3 * SIGN_AGAIN_MS;

export interface SerialVerdict {
  /** To be recorded. */
  readonly seen: SeenSerial;
  /** Why the notes do not count, and what to do; completes "its notes …". null: they count. */
  readonly because: string | null;
}

/** Whether signed notes are the newest ones that were seen, and fresh. Two of one serial are not both: the first one counts. */
export function judgeSerial(
  cluster: string,
  signed: SignedNotes,
  before: SeenSerial | undefined,
  now: Millis,
): SerialVerdict {
  if (before === undefined || signed.serial > before.serial)
    return { seen: { cluster, ...signed, since: now }, because: null };
  const seen = { ...before, since: Math.min(before.since, now) };
  if (signed.tip !== seen.tip) {
    const because = `are older than some that were seen (serial ${signed.serial}, seen ${seen.serial}): somebody pushed old ones again, see who may push its notes ref`;
    return { seen, because };
  }
  if (now - seen.since <= FRESH_FOR_MS) return { seen, because: null };
  const because = `have not been signed anew since ${toTimestamp(seen.since)}, which it does every hour: its reconciler is down or cannot push, or somebody keeps its notes back`;
  return { seen, because };
}

/** As the record has it: `17 5d1c1f…`; '' for none. */
export const writeSignedNotes = (signed: SignedNotes | null): string =>
  signed === null ? '' : `${signed.serial} ${signed.tip}`;

/** null for none, and for what was damaged. */
export function readSignedNotes(text: string): SignedNotes | null {
  const [, serial, tip] = /^([1-9][0-9]{0,14}) ([0-9a-f]{40})$/.exec(text) ?? [];
  return serial === undefined || tip === undefined ? null : { serial: Number(serial), tip };
}
