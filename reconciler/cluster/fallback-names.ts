import { randomBytes } from 'node:crypto';
import { otherConfigMapName } from '#shared/contract/config-map-hash.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';

/** Other names for config sources whose own name another object has. */
export interface FallbackNames {
  /**
   * An unpredictable name, which no other writer can have taken; undefined if so many were made for it since the start that another
   * writer takes them away again.
   *
   * @param usual the name that was taken
   */
  next(usual: string, pool: string, payload: string): string | undefined;
}

export const MOST_FALLBACK_NAMES = 5;
const MARK_BYTES = 4;
/** More than there are pools, in practice. */
const MOST_REMEMBERED = 10_000;

export function createFallbackNames(): FallbackNames {
  const made = new Map<string, number>();
  return {
    next(usual, pool, payload) {
      const before = made.get(usual) ?? 0;
      if (before >= MOST_FALLBACK_NAMES) return undefined;
      setNewest(made, usual, before + 1, MOST_REMEMBERED);
      return otherConfigMapName(pool, randomBytes(MARK_BYTES).toString('hex'), payload);
    },
  };
}
