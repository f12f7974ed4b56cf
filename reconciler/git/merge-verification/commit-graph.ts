import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { parseCommit, type ParsedCommit } from '../objects/parse-commit.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';

/** Commits by name, as far back as they are known: a parent may be missing. */
export type CommitGraph = ReadonlyMap<CommitOid, Pick<ParsedCommit, 'oid' | 'tree' | 'parents' | 'raw'>>;

/** More are not compared: what a merge brings is looked at commit by commit. */
const MOST_COMMITS = 2_000;

/** The commits that a store has, from one of them on; undefined where they are too many to be compared. */
export async function loadCommitGraph(oid: CommitOid, store: ObjectStore): Promise<CommitGraph | undefined> {
  const graph = new Map<CommitOid, ParsedCommit>();
  const open = [oid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (graph.has(next) || !store.has(next)) continue;
    const commit = parseCommit(next, await store.read(next, 'commit'));
    graph.set(next, commit);
    if (graph.size > MOST_COMMITS) return undefined;
    open.push(...commit.parents);
  }
  return graph;
}

/** A commit and all that it comes from, as far as the graph goes; names that are not in it are among them. */
export const ancestorsOf = (graph: CommitGraph, oid: CommitOid): ReadonlySet<CommitOid> => reachedFrom(graph, [oid]);

function reachedFrom(graph: CommitGraph, open: CommitOid[]): ReadonlySet<CommitOid> {
  const met = new Set<CommitOid>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (met.has(next)) continue;
    met.add(next);
    open.push(...(graph.get(next)?.parents ?? []));
  }
  return met;
}

/** The newest commits that both come from, as `git merge-base --all` has them. */
export function mergeBases(graph: CommitGraph, one: CommitOid, other: CommitOid): readonly CommitOid[] {
  const ofOther = ancestorsOf(graph, other);
  const common = [...ancestorsOf(graph, one)].filter((oid) => ofOther.has(oid));
  const older = reachedFrom(
    graph,
    common.flatMap((oid) => graph.get(oid)?.parents ?? []),
  );
  return common.filter((oid) => !older.has(oid));
}
