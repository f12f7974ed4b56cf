import type { RunningFields } from '../non-defaults.ts';
import { type FieldLeaf, leavesIn, onlyLeaves } from './leaves.ts';
import { commonStart, nameTogether, uniqueNames } from './pool-names.ts';

/** What layers are made for. */
interface LayeredPool {
  readonly name: string;
  /** What pools of its origin are called together; empty where there is no such word. */
  readonly family: string;
  readonly config: RunningFields;
}

/** A layer in `base/` that several pools list. */
export interface SharedLayer {
  readonly name: string;
  readonly config: RunningFields;
  /** Names of its pools. */
  readonly pools: readonly string[];
}

export interface Layers {
  /** What all pools say. */
  readonly common: RunningFields;
  /** What some pools say alike. */
  readonly shared: readonly SharedLayer[];
  /** What is left for each pool, in the order in which the pools were given. */
  readonly own: readonly RunningFields[];
}

/** A further file has to be worth it: so many values at least, and so many lines that are not written again. */
const FEWEST_LEAVES = 3;
const FEWEST_SAVED = 6;
/** More layers than that between the common one and a pool's own are not read by anybody. */
const MOST_SHARED = 12;
/** Pairs of pools that are tried for what they share: of the first so many, which are the biggest. */
const MOST_TRIED = 48;

/** Writes down once what several pools say. No value is in two layers of a pool, so that their order is no matter. Pure. */
export function layersOf(pools: readonly LayeredPool[]): Layers {
  const leavesOfPools = pools.map(({ config }) => leavesIn(config));
  const [first = new Set<FieldLeaf>(), ...others] = leavesOfPools;
  const common = others.reduce<ReadonlySet<FieldLeaf>>((all, leaves) => both(all, leaves), first);
  let left = leavesOfPools.map((leaves) => without(leaves, common));
  const shared: SharedLayer[] = [];
  const nameFor = uniqueNames();
  nameFor('common');
  while (shared.length < MOST_SHARED) {
    const best = bestShared(left);
    if (best === undefined) break;
    const members = pools.filter((_, index) => best.members.has(index));
    const config = onlyLeaves(members[0]?.config ?? {}, best.leaves);
    shared.push({ name: nameFor(nameOfShared(members)), config, pools: members.map(({ name }) => name) });
    left = left.map((leaves, index) => (best.members.has(index) ? without(leaves, best.leaves) : leaves));
  }
  return {
    common: onlyLeaves(pools[0]?.config ?? {}, common),
    shared,
    own: pools.map(({ config }, index) => onlyLeaves(config, left[index] ?? new Set())),
  };
}

function nameOfShared(members: readonly LayeredPool[]): string {
  const [family = '', ...more] = [...new Set(members.map((member) => member.family))];
  if (family !== '' && more.length === 0) return family;
  const names = members.map(({ name }) => name);
  // Of more than two, the first is the biggest.
  return names.length > 2 && commonStart(names) === '' ? (names[0] ?? '') : nameTogether(names);
}

interface Candidate {
  readonly leaves: ReadonlySet<FieldLeaf>;
  readonly members: ReadonlySet<number>;
  readonly saved: number;
}

/** What two pools share, and all others that have that as well: of all pairs the one that saves most lines. */
function bestShared(left: readonly ReadonlySet<FieldLeaf>[]): Candidate | undefined {
  const tried = new Set<string>();
  let best: Candidate | undefined;
  const seeds = left.slice(0, MOST_TRIED);
  for (const [index, one] of seeds.entries()) {
    for (const other of seeds.slice(index + 1)) {
      const leaves = both(one, other);
      if (leaves.size < FEWEST_LEAVES || !isNew(leaves, tried)) continue;
      const members = new Set(left.flatMap((each, place) => (hasAll(each, leaves) ? [place] : [])));
      const saved = (members.size - 1) * leaves.size;
      if (saved >= FEWEST_SAVED && saved > (best?.saved ?? 0)) best = { leaves, members, saved };
    }
  }
  return best;
}

function isNew(leaves: ReadonlySet<FieldLeaf>, tried: Set<string>): boolean {
  const key = [...leaves].sort().join('\n');
  if (tried.has(key)) return false;
  tried.add(key);
  return true;
}

const both = (one: ReadonlySet<FieldLeaf>, other: ReadonlySet<FieldLeaf>): ReadonlySet<FieldLeaf> =>
  new Set([...one].filter((leaf) => other.has(leaf)));
const without = (one: ReadonlySet<FieldLeaf>, other: ReadonlySet<FieldLeaf>): ReadonlySet<FieldLeaf> =>
  new Set([...one].filter((leaf) => !other.has(leaf)));
const hasAll = (one: ReadonlySet<FieldLeaf>, other: ReadonlySet<FieldLeaf>): boolean =>
  [...other].every((leaf) => one.has(leaf));
