import { isGitError } from '../errors.ts';
import type { GitSession } from '../wire/git-session.ts';
import { parseCommit } from '../objects/parse-commit.ts';
import { createObjectStore, type ObjectStore } from '../objects/git-object-store.ts';
import type { Commit, CommitOid, Lineage } from '../../policy/commit-snapshot.ts';
import { supportsFilter } from '../wire/request-objects.ts';
import { type PackAnswer, type PackRequest, requestPack } from '../wire/request-pack.ts';
import { refusesFilter } from './fetch-commit.ts';

/** `known` is false where the history in between is too big to be read: a rewrite is assumed then. */
export interface JudgedLineage {
  readonly lineage: Lineage;
  readonly known: boolean;
}

const SURE = (lineage: Lineage): JudgedLineage => ({ lineage, known: true });

/**
 * How the tip relates to the commit that was last taken up. Usually the tip's parents alone decide; otherwise the
 * server is asked for what lies between the two, and for nothing if it does not have the old one.
 */
export async function judgeLineage(session: GitSession, tip: Commit, since: CommitOid | null): Promise<JudgedLineage> {
  if (since === null) return SURE('first');
  if (since === tip.oid) return SURE('same');
  if (tip.parents.includes(since)) return SURE('descendant');
  if (tip.parents.length === 0) return SURE('rewritten');
  try {
    return SURE((await descends(session, tip.oid, since)) ? 'descendant' : 'rewritten');
  } catch (error) {
    if (!isGitError(error, 'GIT_TOO_BIG')) throw error;
    return { lineage: 'rewritten', known: false };
  }
}

/** Whether a commit is the tip, or one that the tip comes from. False also where the history in between is too big to be read. */
export async function isInHistory(session: GitSession, tip: CommitOid, oid: CommitOid): Promise<boolean> {
  try {
    return oid === tip || (await descends(session, tip, oid));
  } catch (error) {
    if (isGitError(error, 'GIT_TOO_BIG')) return false;
    throw error;
  }
}

/** Every commit that the tip has and `since` has not, by name, in a store; null where the server does not know `since` or there is none. */
export async function commitsBetween(
  session: GitSession,
  tip: CommitOid,
  since: CommitOid,
): Promise<{ readonly store: ObjectStore; readonly present: ReadonlySet<string> } | null> {
  const answer = await between(session, { want: tip, have: since });
  if (answer.pack === null || answer.objects === 0) return null;
  const store = createObjectStore();
  return { store, present: await store.addPack(answer.pack) };
}

/** If one of the commits in between has it as parent, it descends. */
async function descends(session: GitSession, tip: CommitOid, since: CommitOid): Promise<boolean> {
  const found = await commitsBetween(session, tip, since);
  if (found === null) return false;
  const { store, present } = found;
  const met = new Set<CommitOid>();
  const open = [tip];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    if (oid === since) return true;
    if (met.has(oid) || !present.has(oid)) continue;
    met.add(oid);
    open.push(...parseCommit(oid, await store.read(oid, 'commit')).parents);
  }
  return false;
}

/** What lies in between: commits alone, where the server leaves the rest out. */
async function between(session: GitSession, wish: PackRequest): Promise<PackAnswer> {
  const { limits } = session;
  if (supportsFilter(session)) {
    try {
      return await requestPack(session, { ...wish, filter: 'tree:0' }, limits);
    } catch (error) {
      if (!refusesFilter(error)) throw error;
    }
  }
  // Files that came and went in between are downloaded as well, and may be of any size that memory bears.
  const generous = { ...limits, objectBytes: Math.max(limits.objectBytes, limits.inflatedBytes / 4) };
  return requestPack(session, wish, generous);
}
