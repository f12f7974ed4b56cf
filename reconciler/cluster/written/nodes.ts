import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';

/**
 * Lets the reconciler read its own writes: a watch may lag behind a write that was just made, and a decision on the old
 * picture would spend the same budget twice. Generations are numbers that only grow within one uid, so they may be compared;
 * resourceVersions may not.
 */
export interface WrittenNodes {
  /** A KubeletNode as the API server answered a write with. */
  wrote(node: KubeletNode): void;
  /**
   * The watched picture, with what was written laid over it until the watch has caught up.
   *
   * @param listedAtMs monotonic time at which the last list was asked for: what was written before is in it, or undone
   */
  over(watched: ReadonlyMap<string, KubeletNode>, listedAtMs: Millis): ReadonlyMap<string, KubeletNode>;
}

/** An object that a watch has not shown this long after it was written was deleted again in the meantime. */
const FORGET_AFTER_MS: Millis = 60_000;

export function createWrittenNodes(clock: Clock): WrittenNodes {
  const ahead = new Map<string, { readonly node: KubeletNode; readonly at: Millis }>();
  return {
    wrote(node) {
      ahead.set(node.metadata.name, { node, at: clock.monotonic() });
    },
    over(watched, listedAtMs) {
      const now = clock.monotonic();
      for (const [name, { node, at }] of ahead) {
        const seen = watched.get(name);
        const forgotten = seen === undefined && now - at > FORGET_AFTER_MS;
        if (hasCaughtUp(seen, node) || at < listedAtMs || forgotten) ahead.delete(name);
      }
      return ahead.size === 0
        ? watched
        : new Map([...watched, ...[...ahead].map(([name, { node }]) => [name, node] as const)]);
    },
  };
}

/** A watch that shows another uid shows a later object of the same name, or the write was to one that is gone. */
function hasCaughtUp(watched: KubeletNode | undefined, written: KubeletNode): boolean {
  if (watched === undefined) return false;
  if (watched.metadata.uid !== written.metadata.uid) return true;
  return (watched.metadata.generation ?? 0) >= (written.metadata.generation ?? 0);
}
