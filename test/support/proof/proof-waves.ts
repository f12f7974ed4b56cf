import type { Millis } from '#shared/runtime/clock.ts';
import { boundOf, millisOf, shareOf, thresholdOf } from './arithmetic.ts';
import type { Machine } from './machine-history.ts';
import {
  classKey,
  hasServed,
  isInRollout,
  isUnableForAnHour,
  type PoolRecord,
  type ProofLedger,
} from './proof-ledger.ts';

const DEAD_MS = 15 * 60_000;

/** A wave as pool.yaml asks for it. */
interface Wave {
  readonly name: string;
  /** A person has to let the next one begin. */
  readonly pause: boolean;
  readonly nodes: number;
  readonly soakMs: Millis;
  /** Canaries of each class. */
  readonly perClass: boolean;
  /** It may end without some. */
  readonly isLast: boolean;
}

export const bytesFor = ({ version }: PoolRecord, { kind }: Machine): string => version.bytes[kind] ?? '';

/** By class of machines; all are of one without computed values. */
export const byClass = (
  { version }: PoolRecord,
  machines: readonly Machine[],
): ReadonlyMap<number, readonly Machine[]> => Map.groupBy(machines, ({ kind }) => (version.isComputed ? kind : 0));

/** How many canaries the pool asks for, over all classes; 0 for none. */
export function canariesOf(pool: PoolRecord, machines: readonly Machine[]): number {
  const { canary } = pool.version.rollout;
  if (canary?.nodes === undefined) return 0;
  const { nodes, perClass = false } = canary;
  if (!perClass || !pool.version.isComputed) return shareOf(nodes, machines.length);
  return [...byClass(pool, machines).values()].reduce((sum, own) => sum + shareOf(nodes, own.length), 0);
}

/** How many nodes may fail without a halt. */
export function sparedIn(ledger: ProofLedger, { name, version: { rollout } }: PoolRecord): number {
  const nodes = ledger.groupOf(name).length;
  const budget = Math.max(1, boundOf(rollout.maxUnavailable, nodes));
  return Math.min(thresholdOf(rollout.onFailure.threshold, nodes), budget) - 1;
}

/** Were told it, and took it back, or died of it as far as anybody knows. */
export function lostOf(pool: PoolRecord, machines: readonly Machine[], now: Millis): readonly Machine[] {
  return machines.filter((each) => {
    const bytes = bytesFor(pool, each);
    return each.told === bytes && (each.rejected.has(bytes) || hasDied(pool, each, now));
  });
}

function hasDied(pool: PoolRecord, each: Machine, now: Millis): boolean {
  const bytes = bytesFor(pool, each);
  return each.told === bytes && each.proved !== bytes && isUnableForAnHour(each, now);
}

/**
 * In whose place others may be tried: they were told it, and are dead for a quarter of an hour without a word on it, or with one that a
 * person does not count. One may be, whatever the pool puts up with.
 */
export function replacedIn(
  pool: PoolRecord,
  machines: readonly Machine[],
  spared: number,
  now: Millis,
): readonly Machine[] {
  const isDead = (each: Machine): boolean => {
    const bytes = bytesFor(pool, each);
    const isOpen = each.told === bytes && each.proved !== bytes && (pool.released || !each.rejected.has(bytes));
    return isOpen && each.deadSince !== undefined && now - each.deadSince >= DEAD_MS;
  };
  return machines.filter(isDead).slice(0, Math.max(1, spared));
}

/** The nodes of the rollout that are there. */
export function rolloutOf(ledger: ProofLedger, pool: PoolRecord): readonly Machine[] {
  const members = ledger.membersOf(pool.name);
  const found = members.filter((each) => isInRollout(pool, each));
  if (found.length > 0 || members.length === 0) return found;
  // Nobody who was there at its beginning is left: it begins again with everybody.
  pool.newest = undefined;
  return members;
}

function wavesOf(pool: PoolRecord, cohort: readonly Machine[]): readonly Wave[] {
  const { canary, steps = [], soak } = pool.version.rollout;
  const canaries = canariesOf(pool, cohort);
  const waves: Wave[] = [];
  if (canaries > 0) {
    const perClass = canary?.perClass === true && pool.version.isComputed;
    const about = { name: 'canary', pause: canary?.pause === true, perClass, isLast: false };
    waves.push({ ...about, nodes: canaries, soakMs: millisOf(canary?.soak ?? soak) });
  }
  for (const [index, step] of steps.entries()) {
    const nodes = Math.max(waves.at(-1)?.nodes ?? 0, shareOf(step.nodes, cohort.length));
    const about = { name: `step ${index + 1}`, pause: step.pause === true, perClass: false, isLast: false };
    waves.push({ ...about, nodes, soakMs: millisOf(step.soak ?? soak) });
  }
  const rest = { name: 'rest', pause: false, perClass: false, isLast: true };
  return [...waves, { ...rest, nodes: cohort.length, soakMs: millisOf(soak) }];
}

/** How far the version of a pool may have come by now, at most. */
export interface Progress {
  /** All waves are done, now or before. */
  readonly isDone: boolean;
  /** By wave, up to the present one, of which nodes of the rollout how many may have been told: of all, or of each class. */
  readonly waves: readonly (readonly Limit[])[];
}

export interface Limit {
  readonly of: readonly Machine[];
  readonly most: number;
}

/** Marks the waves that are done by what nodes have truly shown; those before stay done. */
export function progressOf(ledger: ProofLedger, pool: PoolRecord, now: Millis): Progress {
  const cohort = rolloutOf(ledger, pool);
  const waves = wavesOf(pool, cohort);
  const spared = sparedIn(ledger, pool);
  if (pool.isClaimed && cohort.length > 0 && waves.every((wave) => isBelieved(wave, { pool, cohort, spared, now })))
    pool.done = waves.length;
  while (cohort.length > 0 && pool.done < waves.length) {
    const wave = waves[pool.done];
    if (wave === undefined || (pool.shown <= pool.done && !isDone(wave, { pool, cohort, spared, now }))) break;
    pool.shown = Math.max(pool.shown, pool.done + 1);
    if (wave.pause && !pool.approved.has(wave.name) && isAnybodyLeft(wave, pool, cohort)) break;
    pool.done += 1;
  }
  const isOver = cohort.length > 0 && pool.done >= waves.length;
  if (isOver) {
    // The one that was proven last stands last.
    pool.proven.delete(pool.version.id);
    pool.proven.set(pool.version.id, pool.version);
    for (const own of byClass(pool, ledger.membersOf(pool.name)).values()) noteWhole(pool, own);
  }
  const limitsOf = (wave: Wave): readonly Limit[] => {
    const most = (of: readonly Machine[], nodes: number): Limit => ({
      of,
      most: nodes + Math.min(spared, lostOf(pool, of, now).length) + replacedIn(pool, of, spared, now).length,
    });
    if (!wave.perClass) return [most(cohort, wave.nodes)];
    const { nodes = 1 } = pool.version.rollout.canary ?? {};
    return [...byClass(pool, cohort).values()].map((own) => most(own, shareOf(nodes, own.length)));
  };
  return { isDone: isOver, waves: waves.slice(0, pool.done + 1).map(limitsOf) };
}

/** What nodes show of a wave that somebody says is done, where all of them are. */
function isBelieved(wave: Wave, seen: Seen): boolean {
  const { pool, cohort } = seen;
  const provers = cohort.filter((each) => hasBehindIt(pool, each, wave.soakMs)).length;
  if (wave.pause && !pool.approved.has(wave.name) && provers <= wave.nodes && isAnybodyLeft(wave, pool, cohort))
    return false;
  return wave.isLast ? provers > cohort.length / 2 : isDone(wave, seen);
}

/** Somebody waits for a person then. */
const isAnybodyLeft = ({ nodes }: Wave, pool: PoolRecord, cohort: readonly Machine[]): boolean =>
  nodes < cohort.length && cohort.some((each) => each.told !== bytesFor(pool, each));

function noteWhole(pool: PoolRecord, own: readonly Machine[]): void {
  const hasIt = (each: Machine): boolean =>
    each.told === bytesFor(pool, each) &&
    each.told === each.proved &&
    !each.isChanging &&
    each.unableSince === undefined;
  const [first] = own;
  if (first !== undefined && own.every(hasIt)) pool.whole.add(classKey(pool, first.kind, bytesFor(pool, first)));
}

interface Seen {
  readonly pool: PoolRecord;
  readonly cohort: readonly Machine[];
  readonly spared: number;
  readonly now: Millis;
}

function isDone(wave: Wave, seen: Seen): boolean {
  const { pool, cohort, now } = seen;
  if (!wave.perClass) return isDoneBy(wave, seen);
  const { nodes = 1 } = pool.version.rollout.canary ?? {};
  const asked = [...byClass(pool, cohort)].filter(([, own]) =>
    own.some((each) => each.told === bytesFor(pool, each) || isAble(each, now)),
  );
  return (
    asked.length > 0 &&
    asked.every(([, own]) => isDoneBy({ ...wave, nodes: shareOf(nodes, own.length) }, { ...seen, cohort: own }))
  );
}

const isAble = ({ unableSince }: Machine, now: Millis): boolean => unableSince === undefined || unableSince > now;

const hasBehindIt = (pool: PoolRecord, each: Machine, soakMs: Millis): boolean => {
  const bytes = bytesFor(pool, each);
  return hasServed(each, bytes, soakMs) || (pool.isClaimed && each.proved === bytes && each.provedMs >= soakMs);
};

function isDoneBy(wave: Wave, { pool, cohort, spared, now }: Seen): boolean {
  const provers = new Set(cohort.filter((each) => hasBehindIt(pool, each, wave.soakMs)));
  const lost = lostOf(pool, cohort, now).filter((each) => !provers.has(each));
  const replaced = Math.min(spared, lost.length);
  if (provers.size > 0 && provers.size >= Math.min(wave.nodes, Math.max(1, cohort.length - replaced))) return true;
  if (!wave.isLast) return false;
  // Only the last wave ends without some: those that could not take part for an hour, and one machine that died.
  const there = provers.size;
  const without = cohort.filter((each) => {
    const isTold = each.told === bytesFor(pool, each) && each.proved !== each.told;
    return !provers.has(each) && !isTold && isUnableForAnHour(each, now);
  });
  const died = Math.max(replaced, lost.some((each) => hasDied(pool, each, now)) ? 1 : 0);
  return there > cohort.length / 2 && cohort.length - there - without.length - died <= 0;
}
