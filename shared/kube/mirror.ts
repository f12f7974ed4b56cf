import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../contract/api/object.ts';
import type { Millis } from '../runtime/clock.ts';
import { follow, type FollowOptions } from './follow.ts';
import type { Heard, Kube, Selection } from './kube.ts';

export interface MirrorOptions<T, V> extends Omit<FollowOptions<T>, 'signal'> {
  readonly kube: Kube;
  readonly selection: Selection;
  /** What is kept of an object; undefined leaves it out. Pure: an exception here is a bug and ends `run`. */
  readonly project: (object: T) => V | undefined;
  /** A poke, without data: some kept value appeared, changed or went away, or the first list is there. */
  readonly onChange: () => void;
  /**
   * Whether two kept values are the same to whoever is poked: the newer one is kept in any case. Default: where nothing
   * differs.
   */
  readonly same?: (before: V, after: V) => boolean;
}

/** What the cluster holds of one selection, kept up to date in memory. */
export interface Mirror<V> {
  /** By `keyOf`. The same map for ever, changed in place: copy it for a view that stays. */
  readonly items: ReadonlyMap<string, V>;
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

export function createMirror<T extends KubeObject, V>(options: MirrorOptions<T, V>): Mirror<V> {
  const { kube, selection, project, onChange, same } = options;
  const items = new Map<string, V>();
  let listedAtMs: Millis = Number.NEGATIVE_INFINITY;
  let synced = false;
  let round = new AbortController();

  /** Keeps the old value where the new one says the same, so that identity tells whether anything changed. */
  const keep = (key: string, object: T): boolean => {
    const value = project(object);
    if (value === undefined) return items.delete(key);
    const before = items.get(key);
    if (before !== undefined && isDeepStrictEqual(before, value)) return false;
    items.set(key, value);
    return before === undefined || same?.(before, value) !== true;
  };

  const replace = (objects: readonly T[]): boolean => {
    const gone = new Set(items.keys());
    let changed = false;
    for (const object of objects) {
      const key = keyOf(object);
      gone.delete(key);
      changed = keep(key, object) || changed;
    }
    for (const key of gone) changed = items.delete(key) || changed;
    return changed;
  };

  const hear = (heard: Heard<T>): boolean => {
    if (heard.heard === 'replaced') {
      listedAtMs = heard.askedAtMs;
      return replace(heard.items);
    }
    const key = keyOf(heard.item);
    return heard.type === 'DELETED' ? items.delete(key) : keep(key, heard.item);
  };

  return {
    items,
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
        for await (const heard of follow<T>(kube, selection, { ...options, signal: until })) {
          if (round.signal.aborted) break;
          const first = !synced;
          synced = true;
          if (hear(heard) || first) onChange();
        }
      }
    },
  };
}
