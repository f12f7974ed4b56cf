import type { Millis } from '#shared/runtime/clock.ts';

/** A wave as far as it says who begins in it. */
export interface StageShape<Item> {
  readonly name: string;
  readonly soakMs: Millis;
  /** A person has to let the next one begin. */
  readonly isPaused?: boolean;
  /** All of these, or of these as many as it takes; or so many of each class more; or as many as it takes until so many have begun. */
  readonly who:
    | { readonly only: (item: Item) => boolean; readonly upTo?: number }
    | { readonly ofClasses: ReadonlyMap<unknown, number>; readonly classOf: (item: Item) => unknown }
    | { readonly upTo: number };
}

export interface StageOf<Item> {
  readonly name: string;
  readonly soakMs: Millis;
  readonly isPaused?: boolean;
  readonly items: readonly Item[];
  /** Only these nodes are in it. Otherwise any nodes are, as many as are listed. */
  readonly isFixed: boolean;
}

/**
 * Which of the nodes that have yet to begin do so in which wave, where each may begin in its turn. Also waves without any: the next one
 * waits for their soak.
 *
 * @param begun how many have begun already
 */
export function divideIntoStages<Item>(
  shapes: readonly StageShape<Item>[],
  begun: number,
  ordered: readonly Item[],
): readonly StageOf<Item>[] {
  let left = ordered;
  const stages: StageOf<Item>[] = [];
  for (const { who, ...shape } of shapes) {
    const taken = new Set(chosenBy(who, left, begun + ordered.length - left.length));
    stages.push({ ...shape, items: [...taken], isFixed: 'only' in who || !('upTo' in who) });
    left = left.filter((item) => !taken.has(item));
  }
  return stages;
}

/**
 * The order in which nodes begin, with those at its beginning that are chosen as canaries, or as the first node where there are none.
 *
 * @param ordered    the order of all others
 * @param candidates the order in which canaries are chosen
 */
export function withCanariesFirst<Item>(
  [first]: readonly StageShape<Item>[],
  begun: number,
  ordered: readonly Item[],
  candidates: readonly Item[],
): readonly Item[] {
  const one = begun === 0 ? candidates.slice(0, 1) : [];
  const chosen = new Set(first?.name === 'canary' ? chosenBy(first.who, candidates, begun) : one);
  return [...chosen, ...ordered.filter((item) => !chosen.has(item))];
}

function chosenBy<Item>(who: StageShape<Item>['who'], left: readonly Item[], begun: number): readonly Item[] {
  if ('only' in who) return left.filter(who.only).slice(0, Math.max(0, (who.upTo ?? Infinity) - begun));
  if ('upTo' in who) return left.slice(0, Math.max(0, who.upTo - begun));
  const room = new Map(who.ofClasses);
  return left.filter((item) => {
    const of = who.classOf(item);
    const places = room.get(of) ?? 0;
    room.set(of, places - 1);
    return places > 0;
  });
}
