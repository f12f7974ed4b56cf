import type { Millis } from '#shared/runtime/clock.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitOid } from '../commit-snapshot.ts';
import type { Follows } from '../config-repo/loaded-repo.ts';
import { signersOf } from './follows.ts';

/** A commit of notes that a cluster signed. */
export interface SignedNotes {
  /** Only grows. */
  readonly serial: number;
  /** The commit. */
  readonly tip: CommitOid;
}

/** The newest of one key that was seen of a followed cluster. */
export interface SeenSerial extends SignedNotes {
  readonly cluster: string;
  /** The public key, as `signers` names it. */
  readonly key: string;
  /** When it was first seen. */
  readonly since: Millis;
}

/** How often a cluster signs its notes again, even without news: missing signatures show that somebody holds its notes back. */
export const SIGN_AGAIN_MS = 60 * 60_000;
/** Notes with an older signature do not count. */
const FRESH_FOR_MS = 3 * SIGN_AGAIN_MS;

export interface SerialVerdict {
  /** To be recorded. */
  readonly seen: SeenSerial;
  /** Why the notes do not count, and what to do; completes "its notes …". null: they count. */
  readonly because: string | null;
}

/**
 * The newest that was seen of a cluster by the keys that are named for it now. What another key signed does not count: its thief could have
 * given a serial that the cluster never reaches. It is remembered: where that key is named again, its old notes are old.
 */
export const newestSeen = (
  serials: readonly SeenSerial[],
  cluster: string,
  keys: readonly string[],
): SeenSerial | undefined =>
  serials
    .filter((each) => each.cluster === cluster && keys.includes(each.key))
    .reduce<SeenSerial | undefined>(
      (max, each) => (max === undefined || each.serial > max.serial ? each : max),
      undefined,
    );

/** Every cluster may have eight keys, and eight can be followed. */
export const MOST_SERIALS = 64;

/** With one that was seen now. Those of keys that are named stay, and so do the newest of others, of clusters that are not followed as well. */
export function withSeen(serials: readonly SeenSerial[], seen: SeenSerial, follows: Follows): readonly SeenSerial[] {
  const others = serials.filter(({ cluster, key }) => cluster !== seen.cluster || key !== seen.key);
  const isNamed = ({ cluster, key }: SeenSerial): boolean => signersOf(follows, cluster).includes(key);
  return [seen, ...others].toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a))).slice(0, MOST_SERIALS);
}

/**
 * Whether signed notes are the newest ones that were seen, and fresh. Two of one serial are not both: the first one counts.
 *
 * @param before see `newestSeen`
 */
export function judgeSerial(
  signed: Omit<SeenSerial, 'since'>,
  before: SeenSerial | undefined,
  now: Millis,
): SerialVerdict {
  if (before === undefined || signed.serial > before.serial) return { seen: { ...signed, since: now }, because: null };
  const seen = { ...before, since: Math.min(before.since, now) };
  if (signed.tip !== seen.tip) {
    const because = `are older than some that were seen (serial ${signed.serial}, seen ${seen.serial}): somebody pushed old ones again, see who may push its notes ref`;
    return { seen, because };
  }
  return { seen, because: staleness(seen, now) };
}

/** Why what was seen last does not count any more, where nothing newer can be seen; null where it does, and for nothing seen. */
export const staleness = (seen: SeenSerial | undefined, now: Millis): string | null =>
  seen === undefined || now - seen.since <= FRESH_FOR_MS
    ? null
    : `have had no new signature since ${toTimestamp(seen.since)}, and it signs every hour: its reconciler is down or cannot push, or somebody holds its notes back`;

/** As the record has it: `17 5d1c1f…`; '' for none. */
export const writeSignedNotes = (signed: SignedNotes | null): string =>
  signed === null ? '' : `${signed.serial} ${signed.tip}`;

/** null for none, and for what was damaged. */
export function readSignedNotes(text: string): SignedNotes | null {
  const [, serial, tip] = /^([1-9][0-9]{0,14}) ([0-9a-f]{40})$/.exec(text) ?? [];
  return serial === undefined || tip === undefined ? null : { serial: Number(serial), tip };
}
