import { createHash } from 'node:crypto';
import { fromTimestamp } from '#shared/runtime/clock.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { fitNotification, MOST_POOLS, type Notification, type Occurrence, rankOf, SEVERITIES } from './notification.ts';
import { type Receiver, wants } from './receivers.ts';

/** What was told, over restarts and takeovers. It is written before anything is told, so that only what is in it is told. */
export interface ToldRecord {
  /** By place, a digest of what was last told there, or is owed. */
  readonly marks: ReadonlyMap<string, string>;
  /** What some receivers have not taken yet, the oldest first. */
  readonly owed: readonly Owed[];
}

export interface Owed {
  /** The same in every process. */
  readonly id: string;
  /** Names of receivers. */
  readonly to: readonly string[];
  readonly notification: Notification;
}

/**
 * Three for each of about 700 pools. What does not fit is not told: if its place were forgotten, it would be told at every pass.
 * What needs a person takes the place of what needs nobody.
 */
export const MOST_MARKS = 2_048;
/** Beyond it the mildest goes, and of these the oldest. */
export const MOST_OWED = 24;
/** More of one kind by one commit, found at once, are one message. */
const MOST_ALIKE = 5;

interface NextTold {
  /** null where nothing was ever recorded, or it cannot be read. */
  readonly before: ToldRecord | null;
  readonly occurrences: readonly Occurrence[];
  readonly receivers: readonly Receiver[];
  /** Who has taken what since, by `id`. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether there is a pool of this name, seen or not. */
  readonly isPool: (name: string) => boolean;
  /** Places at which nothing holds any more, and the same would be news. */
  readonly over?: readonly string[] | undefined;
}

interface AfterTold {
  readonly record: ToldRecord;
  /** What was given up for want of room, by receiver, one each. */
  readonly dropped: readonly string[];
}

/** The record after one more look. Pure; the same look twice adds nothing. */
export function nextTold({ before, occurrences, receivers, taken, isPool, over = [] }: NextTold): AfterTold {
  const names = new Set(receivers.map(({ name }) => name));
  const left = (before?.owed ?? []).flatMap(({ id, to, notification }): readonly Owed[] => {
    const still = to.filter((name) => names.has(name) && taken.get(id)?.has(name) !== true);
    // In the same order of keys, so that a look without news writes nothing.
    return still.length === 0 ? [] : [{ id, to: still, notification }];
  });
  const { marks, news } = withMarks(withoutOver(before?.marks ?? new Map(), over, isPool), occurrences);
  // Who has just been switched on is not told how everything came about, only what a person may have to act on.
  const worth = before === null ? news.filter(({ notification }) => notification.severity !== 'info') : news;
  const fresh = worth.flatMap(({ notification, marks: own }): readonly Owed[] => {
    const to = receivers.filter((receiver) => wants(receiver, notification)).map(({ name }) => name);
    // By its time as well: what holds once more, or of a pool that was made again, is another message.
    const id = digest([...Object.entries(own).flat(), notification.at].join('\n'), 16);
    return to.length === 0 ? [] : [{ id, to, notification: fitNotification(notification) }];
  });
  const each = [...left, ...foldAlike(fresh, MOST_ALIKE)];
  // Better told together, and some of it twice, than given up.
  const all = each.length <= MOST_OWED ? each : foldAlike(each, 1);
  const owed = mostUrgent(all);
  return { record: { marks, owed }, dropped: all.filter((one) => !owed.includes(one)).flatMap(({ to }) => to) };
}

function withoutOver(
  marks: ReadonlyMap<string, string>,
  over: readonly string[],
  isPool: NextTold['isPool'],
): ReadonlyMap<string, string> {
  const gone = new Set(over);
  const isLeft = (place: string): boolean =>
    !gone.has(place) && (place.startsWith('/') || isPool(place.split('/', 1)[0] ?? ''));
  return new Map([...marks].filter(([place]) => isLeft(place)));
}

function withMarks(
  before: ReadonlyMap<string, string>,
  occurrences: readonly Occurrence[],
): { readonly marks: ReadonlyMap<string, string>; readonly news: readonly Occurrence[] } {
  const marks = new Map(before);
  const news: Occurrence[] = [];
  // What holds now becomes the newest, the most severe last, so that what is over is forgotten first, and then what needs nobody.
  for (const { marks: own } of [...occurrences].sort((a, b) => rankIn(a) - rankIn(b)))
    for (const place of Object.keys(own)) {
      const known = marks.get(place);
      if (known !== undefined) setNewest(marks, place, known, MOST_MARKS);
    }
  const holding = new Map(occurrences.flatMap((each) => Object.keys(each.marks).map((place) => [place, rankIn(each)])));
  for (const occurrence of occurrences) {
    const own = Object.entries(occurrence.marks).map(([place, which]) => [place, digest(which, 8)] as const);
    if (own.every(([place, which]) => marks.get(place) === which)) continue;
    if (!hasRoom(marks, holding, own.filter(([place]) => !marks.has(place)).length, rankIn(occurrence))) continue;
    for (const [place, which] of own) setNewest(marks, place, which, MOST_MARKS);
    news.push(occurrence);
  }
  return { marks: marks.size === before.size ? inOrder(before, marks) : marks, news };
}

const rankIn = ({ notification: { severity } }: Occurrence): number => rankOf(severity);

/** Whether so many more can be remembered without forgetting what still holds and is as severe. */
function hasRoom(
  marks: ReadonlyMap<string, string>,
  holding: ReadonlyMap<string, number>,
  more: number,
  rank: number,
): boolean {
  const over = marks.size + more - MOST_MARKS;
  if (over <= 0) return true;
  return [...marks.keys()].slice(0, over).every((place) => (holding.get(place) ?? -1) < rank);
}

/** As before where nothing else changed, so that a look without news writes nothing. */
function inOrder(before: ReadonlyMap<string, string>, marks: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return [...marks].every(([place, which]) => before.get(place) === which) ? before : marks;
}

/** A bad layer breaks every pool that has it, and a takeover after a long outage finds much at once. */
function foldAlike(fresh: readonly Owed[], most: number): readonly Owed[] {
  const groups = new Map<string, Owed[]>();
  for (const each of fresh) {
    const { kind, commit, pools } = each.notification;
    const key = pools.length === 0 ? each.id : `${kind} ${commit?.commit ?? ''} ${each.to.join()}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].flatMap((alike) => (alike.length <= most ? alike : [fold(alike)]));
}

/** Of what was folded before, a pool may be in several: then nobody knows how many there are. */
function fold(alike: readonly Owed[]): Owed {
  const { to, notification: worst } = alike.reduce((a, b) => (waits(b) > waits(a) ? b : a), alike[0] as Owed);
  const pools = [...new Set(alike.flatMap(({ notification }) => notification.pools))];
  const morePools = alike.reduce((sum, { notification }) => sum + notification.morePools, 0);
  const newest = alike.at(-1);
  if (pools.length + morePools === 1 && newest !== undefined) return newest;
  const more = pools.length > MOST_POOLS || morePools > 0 ? ' and others' : '';
  // What is known of one pool alone says of which.
  const of = (line: string): string => (worst.pools.length > 1 ? line : `${worst.pools.join()}: ${line}`);
  const about = (worst.pools.length > 1 ? worst.lines.slice(1) : worst.lines).map(of);
  const { canWait } = worst;
  return {
    id: digest(alike.map(({ id }) => id).join(), 16),
    to,
    notification: fitNotification({
      ...worst,
      pools,
      morePools,
      title: `${morePools > 0 ? 'up to ' : ''}${pools.length + morePools} pools: ${TOGETHER[worst.kind]}`,
      lines: [`${pools.slice(0, MOST_POOLS).join(', ')}${more}`, ...about],
      ...(canWait === undefined ? {} : { canWait: { ...canWait, because: of(canWait.because) } }),
    }),
  };
}

const TOGETHER: Readonly<Record<Notification['kind'], string>> = {
  halted: 'halted',
  reverted: 'going back to what they settled on before',
  refused: 'kept as they are, because the commit has errors in them',
  waits: 'waiting for a person',
  settled: 'settled',
  follows: 'following',
  test: 'tests',
};

/** What cannot wait speaks for all. */
const waits = ({ notification: { severity, canWait } }: Owed): number =>
  rankOf(severity) * 3 + (canWait === undefined ? 0 : { yes: 0, unknown: 1, no: 2 }[canWait.answer]);

function mostUrgent(owed: readonly Owed[]): readonly Owed[] {
  if (owed.length <= MOST_OWED) return owed;
  // The newest first; the order of those of one severity stays.
  const kept = new Set(
    owed
      .toReversed()
      .sort((a, b) => severityOf(b) - severityOf(a))
      .slice(0, MOST_OWED),
  );
  return owed.filter((each) => kept.has(each));
}

const severityOf = ({ notification }: Owed): number => rankOf(notification.severity);

const digest = (text: string, length: number): string =>
  createHash('sha256').update(text, 'utf8').digest('base64url').slice(0, length);

export const writeTold = ({ marks, owed }: ToldRecord): string =>
  JSON.stringify({ marks: Object.fromEntries(marks), owed });

/** @returns null where there is none, or it is damaged: then what needs a person is told once more */
export function readTold(text: string): ToldRecord | null {
  try {
    const { marks, owed } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (!isMap(marks) || !Array.isArray(owed)) return null;
    const entries = Object.entries(marks).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return { marks: new Map(entries.slice(-MOST_MARKS)), owed: owed.flatMap(readOwed).slice(-MOST_OWED) };
  } catch {
    return null;
  }
}

/** Others may have written there: what is sent is plain and short all the same. */
function readOwed(value: unknown): readonly Owed[] {
  try {
    return isOwed(value) ? [{ id: value.id, to: value.to, notification: fitNotification(value.notification) }] : [];
  } catch {
    return [];
  }
}

function isOwed(value: unknown): value is Owed {
  if (!isMap(value) || !isMap(value['notification'])) return false;
  const { title, kind, severity, lines, pools, morePools, at } = value['notification'];
  const areWords = [value['id'], kind].every((word) => typeof word === 'string' && /^[\w-]{1,64}$/.test(word));
  const areLists = [value['to'], lines, pools].every(
    (each) => Array.isArray(each) && each.every((text) => typeof text === 'string'),
  );
  const isDated = typeof at === 'string' && fromTimestamp(at) !== undefined;
  const isPlain = typeof title === 'string' && typeof morePools === 'number';
  return areWords && areLists && isDated && isPlain && SEVERITIES.some((known) => known === severity);
}
