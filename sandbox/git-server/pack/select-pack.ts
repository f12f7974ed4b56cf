import { readCommit } from '#sandbox/git-server/objects/commit-object.ts';
import { commitsFrom, commitsOf, cutAtDepth, parentsOf } from '#sandbox/git-server/objects/commit-walk.ts';
import type { GitObject, ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { peel } from '#sandbox/git-server/objects/git-object.ts';
import { readTree } from '#sandbox/git-server/objects/tree-object.ts';

/** What a client asks for, in either version of the protocol. */
export interface FetchRequest {
  /** Objects that it wants with all that they name; they exist here. */
  readonly wants: readonly Oid[];
  /** Objects that it says it has; those unknown here mean nothing. */
  readonly haves: readonly Oid[];
  /** Commits that it has without their parents. */
  readonly shallow: readonly Oid[];
  readonly deepen: Deepen | undefined;
}

/** How many commits deep the history is to become, from the wants on or from where the client's history ends now. */
export interface Deepen {
  readonly depth: number;
  readonly from: 'wants' | 'boundary';
}

export interface Selection {
  /** What goes into the pack. */
  readonly objects: readonly GitObject[];
  /** Commits that become shallow at the client, and those that cease to be. */
  readonly shallow: readonly Oid[];
  readonly unshallow: readonly Oid[];
}

/** Decides what a fetch is sent: all that the wants name, cut at the depth, without what the client has. */
export function selectPack(lookup: ObjectLookup, request: FetchRequest): Selection {
  const shallowThere = new Set(request.shallow.filter((oid) => lookup(oid)?.type === 'commit'));
  const cut = cutOf(lookup, request, shallowThere);
  const unshallow = [...shallowThere].filter((oid) => cut.inner.has(oid));
  const ends = new Set([...cut.boundary, ...shallowThere].filter((oid) => !cut.inner.has(oid)));

  const there = commitsFrom(lookup, request.haves, shallowThere);
  const sent = [...commitsFrom(lookup, request.wants, ends)].filter((oid) => !there.has(oid));
  const neighbours = sent.flatMap((oid) => parentsOf(lookup, oid)).filter((oid) => there.has(oid));

  const seen = new Set<Oid>();
  for (const commit of [...commitsOf(lookup, request.haves), ...neighbours])
    walkTree(lookup, treeOf(lookup, commit), seen);
  const first = seen.size;
  for (const commit of sent) walkTree(lookup, treeOf(lookup, commit), seen);
  const beside = besideCommits(lookup, request);
  for (const oid of beside) walkTree(lookup, oid, seen);

  const haves = new Set(request.haves);
  const tags = request.wants.flatMap((oid) => peel(lookup, oid).tags).filter((oid) => !haves.has(oid));
  const names = new Set([...tags, ...sent, ...[...seen].slice(first)]);
  return {
    objects: [...names].map(lookup).filter((object) => object !== undefined),
    shallow: [...cut.boundary].filter((oid) => !shallowThere.has(oid)),
    unshallow,
  };
}

/** True when each want builds on something that both sides have: nothing is gained by hearing of more haves. */
export function isEnough(lookup: ObjectLookup, request: FetchRequest): boolean {
  const common = new Set(commitsOf(lookup, request.haves));
  return request.wants.every((want) => [...commitsFrom(lookup, [want])].some((oid) => common.has(oid)));
}

function cutOf(lookup: ObjectLookup, request: FetchRequest, shallowThere: ReadonlySet<Oid>) {
  if (request.deepen === undefined) return { inner: new Set<Oid>(), boundary: new Set<Oid>() };
  const { depth, from } = request.deepen;
  // Counted from the boundary, the commits at the boundary themselves are one more.
  return from === 'wants' ? cutAtDepth(lookup, request.wants, depth) : cutAtDepth(lookup, shallowThere, depth + 1);
}

/** Wants that are no commits: refs may name trees and blobs too. */
function besideCommits(lookup: ObjectLookup, request: FetchRequest): readonly Oid[] {
  return request.wants.map((oid) => peel(lookup, oid).target).filter((oid) => lookup(oid)?.type !== 'commit');
}

function treeOf(lookup: ObjectLookup, commit: Oid): Oid | undefined {
  const object = lookup(commit);
  return object === undefined ? undefined : readCommit(object.body).tree;
}

/** Adds a tree (or blob) and all below it to `seen`; what is in it already is not entered again. */
function walkTree(lookup: ObjectLookup, oid: Oid | undefined, seen: Set<Oid>): void {
  if (oid === undefined || seen.has(oid)) return;
  seen.add(oid);
  const object = lookup(oid);
  if (object?.type !== 'tree') return;
  for (const entry of readTree(object.body)) {
    if (entry.kind !== 'submodule') walkTree(lookup, entry.oid, seen);
  }
}
