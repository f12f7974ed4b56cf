/** A source of choices that makes the same ones for the same seed, whatever the machine. */
export interface Random {
  /** A whole number from 0 up to, and without, `below`. */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
  /** Distinct items, as many as there are at most. */
  some<T>(items: readonly T[], count: number): readonly T[];
  /** True once in so many times. */
  oneIn(times: number): boolean;
}

/** Mulberry32: 32 bits of state are plenty to choose test files by. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (items.length === 0) throw new Error('nothing to pick from');
    return item as T;
  };
  return {
    below,
    pick,
    some: (items, count) => {
      const left = [...items];
      const chosen = [];
      while (chosen.length < count && left.length > 0) chosen.push(...left.splice(below(left.length), 1));
      return chosen;
    },
    oneIn: (times) => below(times) === 0,
  };
}
