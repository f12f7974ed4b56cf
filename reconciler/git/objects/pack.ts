import { createHash } from 'node:crypto';
import type { YieldAfterWork } from '../event-loop-yield.ts';
import { damagedPack, inflateEntry, type PackEntry, readEntry } from '../wire/pack-entry.ts';
import { applyDelta } from './apply-delta.ts';

type Type = Exclude<PackEntry['type'], null>;

export interface PackedObject {
  readonly type: Type;
  /** Not to be written to: other objects may be made of it. */
  readonly bytes: Buffer;
}

/** The objects of a pack, by name. */
export interface ObjectPack {
  readonly oids: Iterable<string>;
  /** undefined where the pack does not have it. */
  read(oid: string): PackedObject | undefined;
}

/** An object whose base, if any, is known. */
interface Placed {
  readonly entry: PackEntry;
  readonly type: Type;
  readonly base: Placed | null;
  /** How many deltas lead to it. */
  readonly depth: number;
}

interface Met {
  readonly start: number;
  readonly entry: PackEntry;
  /** What is deflated in it. */
  readonly inflated: Buffer;
}

/** git itself makes no longer chains (pack-objects.h, OE_DEPTH_BITS), and by default of fifty. */
const LONGEST_CHAIN = 4_095;
const HEADER_BYTES = 12;
const SUM_BYTES = 20;

/**
 * Names all objects of a pack that was scanned. What is a base of others is unpacked once and kept, so that time and memory
 * follow from the bytes that the scan has bounded, however deltas are built upon each other.
 *
 * @throws GitError `GIT_DAMAGED` where a name stands twice, or where deltas have no base, go round in circles, do not fit, or
 *   form too long a chain
 */
export async function openPack(pack: Buffer, spend: YieldAfterWork): Promise<ObjectPack> {
  const content = pack.subarray(0, -SUM_BYTES);
  const named = new Map<string, Placed>();
  const placed = new Map<number, Placed>();
  /** Deltas that were met before their base, by its place or its name. */
  const waiting = new Map<number | string, Met[]>();
  const bases = new Map<Placed, Buffer>();

  const bytesOf = (object: Placed): Buffer =>
    bases.get(object) ?? unpacked(object, inflateEntry(content, object.entry).content);

  function unpacked({ base }: Placed, inflated: Buffer): Buffer {
    if (base === null) return inflated;
    // A base's own base was kept when the base was named, so that this goes no deeper than one.
    const bytes = bytesOf(base);
    bases.set(base, bytes);
    return applyDelta(inflated, bytes);
  }

  /** @returns what has waited for it */
  function place({ start }: Met, object: Placed, bytes: Buffer): readonly Met[] {
    const oid = nameOf(object.type, bytes);
    if (named.has(oid)) throw damagedPack(`the object ${oid} stands in it twice`);
    named.set(oid, object);
    placed.set(start, object);
    const ready = [...(waiting.get(start) ?? []), ...(waiting.get(oid) ?? [])];
    waiting.delete(start);
    waiting.delete(oid);
    return ready;
  }

  /** Takes in an object and all that waited for it: in a list, because calls in calls have an end. */
  async function take(first: Met): Promise<void> {
    const ready = [first];
    for (let met = ready.pop(); met !== undefined; met = ready.pop()) {
      const object = withBase(met);
      if (object === undefined) continue;
      const bytes = unpacked(object, met.inflated);
      for (const next of place(met, object, bytes)) ready.push(next);
      const pause = spend(bytes.length);
      if (pause !== undefined) await pause;
    }
  }

  /** undefined where its base is not known yet: then it waits. */
  function withBase(met: Met): Placed | undefined {
    const { entry } = met;
    if (entry.type !== null) return { entry, type: entry.type, base: null, depth: 0 };
    const key = entry.base !== null && 'at' in entry.base ? entry.base.at : (entry.base?.oid ?? '');
    const base = typeof key === 'number' ? placed.get(key) : named.get(key);
    if (base === undefined) {
      const others = waiting.get(key);
      if (others === undefined) waiting.set(key, [met]);
      else others.push(met);
      return undefined;
    }
    if (base.depth === LONGEST_CHAIN) throw damagedPack(`more than ${LONGEST_CHAIN} deltas stand upon each other`);
    return { entry, type: base.type, base, depth: base.depth + 1 };
  }

  let start = HEADER_BYTES;
  while (start < content.length) {
    const entry = readEntry(content, start);
    const { content: inflated, end } = inflateEntry(content, entry);
    await take({ start, entry, inflated });
    start = end;
    const pause = spend(inflated.length);
    if (pause !== undefined) await pause;
  }
  if (waiting.size > 0) throw damagedPack('the base of a delta is not in it');
  return {
    oids: named.keys(),
    read(oid) {
      const object = named.get(oid);
      return object && { type: object.type, bytes: bytesOf(object) };
    },
  };
}

function nameOf(type: Type, bytes: Buffer): string {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}
