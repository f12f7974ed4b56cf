import type { GitObject, ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';
import type { RefChange, RefPolicy } from './ref-rules.ts';
import { refusalOf } from './ref-rules.ts';

/** What one ref's change came to. */
export interface RefVerdict {
  readonly ref: string;
  /** Why it was refused, for the person who pushed; undefined when it was done. */
  readonly refusal: string | undefined;
}

/** What a repository is made of when the server starts. */
export interface RepositoryContent {
  /** The branch that `HEAD` names, `refs/heads/main`; it need not exist yet. */
  readonly head: string;
  readonly objects: ReadonlyMap<Oid, GitObject>;
  readonly refs: ReadonlyMap<string, Oid>;
}

/** Keeps changes beyond the life of the process. Objects are to be safe before the refs that name them. */
export interface Persistence {
  save(objects: ReadonlyMap<Oid, GitObject>, refs: ReadonlyMap<string, Oid | null>): Promise<void>;
}

/** The repository as the protocol sees it: in memory, and complete (no object lacks one that it names). */
export interface Repository {
  readonly head: string;
  readonly refs: ReadonlyMap<string, Oid>;
  readonly lookup: ObjectLookup;
  /** Adds the objects and changes the refs that the rules allow; each ref is judged by itself, one push after another. */
  change(
    objects: ReadonlyMap<Oid, GitObject>,
    changes: readonly RefChange[],
    policy: RefPolicy,
  ): Promise<readonly RefVerdict[]>;
}

export function createRepository(content: RepositoryContent, persistence?: Persistence): Repository {
  const objects = new Map(content.objects);
  const refs = new Map(content.refs);
  let last: Promise<unknown> = Promise.resolve();

  const changeNow = async (
    incoming: ReadonlyMap<Oid, GitObject>,
    changes: readonly RefChange[],
    policy: RefPolicy,
  ): Promise<readonly RefVerdict[]> => {
    const lookup: ObjectLookup = (oid) => incoming.get(oid) ?? objects.get(oid);
    const after = new Map(refs);
    const verdicts = changes.map((change): RefVerdict => {
      const refusal = refusalOf(change, after, lookup, policy);
      if (refusal === undefined) move(after, change);
      return { ref: change.ref, refusal };
    });
    const done = changes.filter((_, index) => verdicts[index]?.refusal === undefined);
    if (done.length === 0) return verdicts;
    await persistence?.save(incoming, new Map(done.map(({ ref, to }) => [ref, to === NO_OID ? null : to])));
    for (const [oid, object] of incoming) objects.set(oid, object);
    for (const change of done) move(refs, change);
    return verdicts;
  };

  return {
    head: content.head,
    refs,
    lookup: (oid) => objects.get(oid),
    change(incoming, changes, policy) {
      const result = last.then(() => changeNow(incoming, changes, policy));
      // A change that failed must not fail those that wait behind it.
      last = result.catch(() => undefined);
      return result;
    },
  };
}

function move(refs: Map<string, Oid>, change: RefChange): void {
  if (change.to === NO_OID) refs.delete(change.ref);
  else refs.set(change.ref, change.to);
}
