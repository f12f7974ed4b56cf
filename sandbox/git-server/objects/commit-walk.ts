import { readCommit } from './commit-object.ts';
import type { ObjectLookup, Oid } from './oid.ts';
import { peel } from './git-object.ts';

/** The commits that these names come down to, through annotated tags; what is no commit here is left out. */
export function commitsOf(lookup: ObjectLookup, oids: Iterable<Oid>): readonly Oid[] {
  return [...oids].map((oid) => peel(lookup, oid).target).filter((oid) => lookup(oid)?.type === 'commit');
}

/** Parents of a commit; none for what is unknown or no commit. */
export function parentsOf(lookup: ObjectLookup, oid: Oid): readonly Oid[] {
  const object = lookup(oid);
  return object?.type === 'commit' ? readCommit(object.body).parents : [];
}

/**
 * All commits from `starts` back to the roots, the starts included, nearest first.
 *
 * @param ends commits that are included but whose parents are not followed (a shallow boundary)
 */
export function commitsFrom(
  lookup: ObjectLookup,
  starts: Iterable<Oid>,
  ends: ReadonlySet<Oid> = new Set(),
): ReadonlySet<Oid> {
  // A Set can grow while it is walked: it is the queue and the answer at once.
  const found = new Set<Oid>(commitsOf(lookup, starts));
  for (const oid of found) {
    if (ends.has(oid)) continue;
    for (const parent of parentsOf(lookup, oid)) found.add(parent);
  }
  return found;
}

export function isAncestor(lookup: ObjectLookup, ancestor: Oid, of: Oid): boolean {
  return commitsFrom(lookup, [of]).has(ancestor);
}

/** A history cut at `depth` commits: those nearer than that, and those at the cut that have parents beyond it. */
export interface DepthCut {
  readonly inner: ReadonlySet<Oid>;
  readonly boundary: ReadonlySet<Oid>;
}

/** @param depth how many commits are kept from each start on, at least 1 */
export function cutAtDepth(lookup: ObjectLookup, starts: Iterable<Oid>, depth: number): DepthCut {
  const inner = new Set<Oid>();
  let layer: readonly Oid[] = commitsOf(lookup, starts);
  for (let level = 1; level < depth && layer.length > 0; level += 1) {
    for (const oid of layer) inner.add(oid);
    layer = layer.flatMap((oid) => parentsOf(lookup, oid)).filter((oid) => !inner.has(oid));
    layer = [...new Set(layer)];
  }
  return { inner, boundary: new Set(layer.filter((oid) => parentsOf(lookup, oid).length > 0)) };
}

/** Newest first: no commit comes before a commit that builds on it, and times decide between the others. */
export function newestFirst(lookup: ObjectLookup, start: Oid, count: number): readonly Oid[] {
  const all = commitsFrom(lookup, [start]);
  const children = new Map<Oid, number>([...all].map((oid) => [oid, 0]));
  for (const oid of all) for (const parent of parentsOf(lookup, oid)) bump(children, parent, 1);
  const ready = [...all].filter((oid) => children.get(oid) === 0);
  const listed: Oid[] = [];
  while (ready.length > 0 && listed.length < count) {
    ready.sort((left, right) => timeOf(lookup, right) - timeOf(lookup, left));
    const oid = ready.shift();
    if (oid === undefined) break;
    listed.push(oid);
    for (const parent of parentsOf(lookup, oid)) if (bump(children, parent, -1) === 0) ready.push(parent);
  }
  return listed;
}

function bump(counts: Map<Oid, number>, oid: Oid, by: number): number {
  const count = (counts.get(oid) ?? 0) + by;
  counts.set(oid, count);
  return count;
}

function timeOf(lookup: ObjectLookup, oid: Oid): number {
  const object = lookup(oid);
  return object?.type === 'commit' ? readCommit(object.body).at : 0;
}
