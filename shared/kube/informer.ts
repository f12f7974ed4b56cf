import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../contract/api/object.ts';
import type { Millis } from '../runtime/clock.ts';
import { listWatch, type ListWatchOptions } from './list-watch.ts';
import { reasonOf } from '../runtime/errors.ts';
import type { ListWatchEvent, Kube, Selection, Trim } from './kube.ts';

interface InformerOptions<T, V> extends Omit<ListWatchOptions<T>, 'signal'> {
  readonly kube: Kube;
  readonly selection: Selection;
  /** What is kept of an object; undefined leaves it out. Pure. An object with which it throws is among the `unreadable`. */
  readonly project: (object: T) => V | undefined;
  /** A poke, without data: some kept value appeared, changed or went away, or the first list is there. */
  readonly onChange: () => void;
  /**
   * Whether two kept values are the same to the listener: the newer one is kept in any case. Default: if nothing
   * differs.
   */
  readonly same?: (before: V, after: V) => boolean;
}

/** An object that is there, and of which nothing is known but why. */
interface UndecodableObject {
  readonly error: unknown;
  /** '' where that cannot be read either. */
  readonly uid: string;
}

/** What the cluster holds of one selection, kept up to date in memory. */
export interface Informer<V> {
  /** By `keyOf`. The same map forever, changed in place: copy it for a view that stays. */
  readonly items: ReadonlyMap<string, V>;
  /** Those that are there and could not be looked at, by `keyOf`. They are not among the `items`. */
  readonly unreadable: ReadonlyMap<string, UndecodableObject>;
  /** The whole selection was read, since the last `refresh` if there was one: before that, a missing key means nothing. */
  synced(): boolean;
  /** Reads the whole selection again, now: what was watched may be behind. Until then it is not synced. */
  refresh(): void;
  /** Monotonic time at which the last list was asked for: all that was written before is in what is kept. */
  listedAtMs(): Millis;
  /** Follows until the signal aborts. Never rejects, but for a bug. Not to be called twice. */
  run(signal: AbortSignal): Promise<void>;
}

/** `namespace/name`, or `name` where there is no namespace. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function createInformer<T extends KubeObject, V>(options: InformerOptions<T, V>): Informer<V> {
  const { kube, selection, onChange } = options;
  const items = new Map<string, V>();
  const unreadable = new Map<string, UndecodableObject>();
  const trim = options.trim === undefined ? undefined : orWhole(options.trim);
  let listedAtMs: Millis = Number.NEGATIVE_INFINITY;
  let synced = false;
  let round = new AbortController();

  /** Keeps the old value where the new one says the same, so that identity tells whether anything changed. */
  const keep = (key: string, object: T): boolean => {
    try {
      const isNew = keepReadable(key, object, options, items);
      return unreadable.delete(key) || isNew;
    } catch (error) {
      const before = unreadable.get(key);
      unreadable.set(key, { error, uid: uidOf(object) });
      return items.delete(key) || before === undefined || reasonOf(before.error) !== reasonOf(error);
    }
  };

  const drop = (key: string): boolean => {
    const wasUnreadable = unreadable.delete(key);
    return items.delete(key) || wasUnreadable;
  };

  const replace = (objects: readonly T[]): boolean => {
    const gone = new Set([...items.keys(), ...unreadable.keys()]);
    let changed = false;
    for (const object of objects) {
      const key = keyOf(object);
      gone.delete(key);
      changed = keep(key, object) || changed;
    }
    for (const key of gone) changed = drop(key) || changed;
    return changed;
  };

  const hear = (heard: ListWatchEvent<T>): boolean => {
    if (heard.heard === 'replaced') {
      listedAtMs = heard.askedAtMs;
      return replace(heard.items);
    }
    const key = keyOf(heard.item);
    return heard.type === 'DELETED' ? drop(key) : keep(key, heard.item);
  };

  return {
    items,
    unreadable,
    synced: () => synced,
    refresh() {
      synced = false;
      round.abort();
    },
    listedAtMs: () => listedAtMs,
    async run(signal) {
      while (!signal.aborted) {
        round = new AbortController();
        const until = AbortSignal.any([signal, round.signal]);
        for await (const heard of listWatch<T>(kube, selection, { ...options, trim, signal: until })) {
          if (round.signal.aborted) break;
          const first = !synced;
          synced = true;
          if (hear(heard) || first) onChange();
        }
      }
    },
  };
}

function keepReadable<T, V>(
  key: string,
  object: T,
  { project, same }: Pick<InformerOptions<T, V>, 'project' | 'same'>,
  items: Map<string, V>,
): boolean {
  const value = project(object);
  if (value === undefined) return items.delete(key);
  const before = items.get(key);
  if (before !== undefined && isDeepStrictEqual(before, value)) return false;
  items.set(key, value);
  return before === undefined || same?.(before, value) !== true;
}

/** One that cannot be trimmed stays as it is: its reader finds out why, and the list goes on. */
const orWhole =
  <T>(trim: Trim<T>): Trim<T> =>
  (object) => {
    try {
      return trim(object);
    } catch {
      return object;
    }
  };

function uidOf(object: KubeObject): string {
  try {
    return object.metadata.uid ?? '';
  } catch {
    return '';
  }
}
