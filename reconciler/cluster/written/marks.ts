import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { NodeView } from '../../policy/fleet.ts';
import { viewNode } from '../views.ts';

/** Lets the reconciler see what it wrote onto Nodes before its watch does. */
export interface WrittenMarks {
  /** A Node as the API server answered a write with. */
  wrote(node: KubeObject): void;
  /** @param listedAtMs monotonic time at which the last list was asked for */
  over(watched: ReadonlyMap<string, NodeView>, listedAtMs: Millis): ReadonlyMap<string, NodeView>;
}

/**
 * Nodes have no generation that would tell older from newer, so that what was written is believed for this long at most:
 * somebody else may have written since.
 */
const BELIEVED_MS: Millis = 10_000;

type Marks = Pick<NodeView, 'cordoned' | 'drain' | 'drainFailed' | 'gated'>;

export function createWrittenMarks(clock: Clock): WrittenMarks {
  const ahead = new Map<string, { readonly uid: string; readonly marks: Marks; readonly at: Millis }>();
  return {
    wrote(node) {
      const view = viewNode(node);
      ahead.set(view.name, { uid: view.uid, marks: marksOf(view), at: clock.monotonic() });
    },
    over(watched, listedAtMs) {
      if (ahead.size === 0) return watched;
      const now = clock.monotonic();
      const over = new Map(watched);
      for (const [name, { uid, marks, at }] of ahead) {
        const seen = watched.get(name);
        const isLate = now - at > BELIEVED_MS || at < listedAtMs;
        if (isLate || seen === undefined || seen.uid !== uid || isDeepStrictEqual(marksOf(seen), marks)) {
          ahead.delete(name);
        } else {
          const { cordoned: _, drain: __, drainFailed: ___, gated: ____, ...rest } = seen;
          over.set(name, { ...rest, ...marks });
        }
      }
      return over;
    },
  };
}

function marksOf({ cordoned, drain, drainFailed, gated }: NodeView): Marks {
  return {
    cordoned,
    ...(drain === undefined ? {} : { drain }),
    ...(drainFailed === undefined ? {} : { drainFailed }),
    ...(gated === undefined ? {} : { gated }),
  };
}
