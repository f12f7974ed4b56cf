import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';

/**
 * Lets the reconciler read its own writes: a watch may lag behind a write that was just made, and a decision on the old
 * picture would spend the same budget twice.
 */
export interface WriteOverlay<T> {
  /** An object as the API server answered a write with. */
  wrote(object: KubeObject): void;
  /**
   * The watched picture, with what was written laid over it until the watch has caught up. Once it has, or the write is
   * not believed any more, the watch is believed for good.
   *
   * @param listedAtMs monotonic time at which the last list was asked for: what was written before is in it, or undone
   */
  merge(watched: ReadonlyMap<string, T>, listedAtMs: Millis): ReadonlyMap<string, T>;
}

/** How far a write to objects of one kind is believed. */
export interface WriteOverlayRules<T> {
  /** What is kept of an object, as the watch keeps it. */
  readonly view: (object: KubeObject) => T;
  readonly uidOf: (item: T) => string | undefined;
  /** Whether the watch shows what was written, or something later. Asked of the same object only, by its uid. */
  readonly hasCaughtUp: (seen: T, written: T) => boolean;
  /** How long a write is believed while the watch shows the object without it. */
  readonly believedMs: Millis;
  /** The same while the watch does not show the object at all; null: then it is gone. */
  readonly believedUnseenMs: Millis | null;
  /** The watched object with what was written. */
  readonly merge: (seen: T, written: T) => T;
}

export function createWriteOverlay<T>(clock: Clock, rules: WriteOverlayRules<T>): WriteOverlay<T> {
  const ahead = new Map<string, { readonly written: T; readonly at: Millis }>();
  return {
    wrote(object) {
      ahead.set(object.metadata.name, { written: rules.view(object), at: clock.monotonic() });
    },
    merge(watched, listedAtMs) {
      if (ahead.size === 0) return watched;
      const now = clock.monotonic();
      const over = new Map(watched);
      const layOne = (name: string, written: T, seen: T | undefined, ageMs: Millis): void => {
        try {
          if (!isAhead(rules, written, seen, ageMs)) ahead.delete(name);
          else over.set(name, seen === undefined ? written : rules.merge(seen, written));
        } catch {
          // The watched object is unreadable: the decision about it finds out why.
        }
      };
      for (const [name, { written, at }] of ahead) {
        const seen = watched.get(name);
        if (at < listedAtMs) ahead.delete(name);
        else layOne(name, written, seen, now - at);
      }
      return over;
    },
  };
}

function isAhead<T>(rules: WriteOverlayRules<T>, written: T, seen: T | undefined, ageMs: Millis): boolean {
  if (seen === undefined) return rules.believedUnseenMs !== null && ageMs <= rules.believedUnseenMs;
  // Another uid is a later object of the same name, or the write was to one that is gone.
  if (rules.uidOf(seen) !== rules.uidOf(written)) return false;
  return ageMs <= rules.believedMs && !rules.hasCaughtUp(seen, written);
}
