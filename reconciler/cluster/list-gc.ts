import { getHeapStatistics } from 'node:v8';
import type { Trim } from '#shared/kube/kube.ts';
import { forceGc } from '#shared/runtime/force-gc.ts';

/** How much of V8's heap is in use, in bytes, and how to collect what is dead in it. */
interface Heap {
  readonly used: () => number;
  readonly collect: () => void;
}

const MIB = 1024 * 1024;
/** Two pages of Nodes, with all that is dropped of them. */
const SWEPT_AT = 24 * MIB;
const LOOK_EVERY = 100;

const V8: Heap = {
  used: () => getHeapStatistics().used_heap_size,
  collect: forceGc,
};

/**
 * Makes trims that give back what they take off while a long list is read. V8 moves the pages of a list to its old generation, and
 * without incremental marking (see the Deployment) looks there only when something is made in it: a restart over ten thousand
 * nodes had 80 MiB of dead pages.
 */
export function createListGc(heap: Heap = V8): <T>(trim: Trim<T>) => Trim<T> {
  let floor = Infinity;
  let seen = 0;
  const look = (): void => {
    const used = heap.used();
    floor = Math.min(floor, used);
    if (used - floor < SWEPT_AT) return;
    heap.collect();
    floor = heap.used();
  };
  return (trim) => (object) => {
    seen += 1;
    if (seen % LOOK_EVERY === 0) look();
    return trim(object);
  };
}
