import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { GitError, isGitError } from '../errors.ts';
import { createObjectStore } from '../objects/git-object-store.ts';
import { isRefName } from '../ref-name.ts';
import type { Remote } from '../remote.ts';
import { listRefs } from '../wire/find-tip.ts';
import { supportsFilter, supportsSingleObjects, requestObjects } from '../wire/request-objects.ts';
import { requestPack } from '../wire/request-pack.ts';
import type { GitSession } from '../wire/git-session.ts';

/** An annotated tag, as the server has it. */
export interface TagObject {
  /** `release/2026-03`: the ref's name without `refs/tags/`. Anyone who may push chooses it. */
  readonly name: string;
  readonly oid: string;
  /** The commit that it leads to, as the server says. */
  readonly commit: CommitOid;
  /** The tag object's own bytes. */
  readonly raw: Buffer;
}

/** Annotated tags that lead to a commit, as they are now, then perhaps those of other commits. Rejects with GitErrors. */
export type ReadTags = (commit: CommitOid, signal: AbortSignal) => Promise<readonly TagObject[]>;

/**
 * More tags than one commit has in practice, and as many of other commits; those whose names come last are read, which are the
 * newest usually.
 */
const MOST_TAGS = 20;

/**
 * @param prefix what the names of tags that count begin with: `kubelet/`. The request has it, so that no other tag is listed.
 *   None is fetched but those that are returned, and those once only.
 * @param ofOthers whether tags that lead to other commits are returned as well: one on top may leave the folder as it is
 */
export function createTagReader(remote: Remote, prefix: string, ofOthers = false): ReadTags {
  let known: ReadonlyMap<string, Buffer> = new Map();
  const beginning = `refs/tags/${prefix}`;
  return (commit, signal) =>
    remote.within(signal, async (session) => {
      const listed = (await listRefs(session, beginning, true))
        .flatMap(({ ref, oid, peeled }) => (peeled === undefined ? [] : [{ ref, oid, peeled }]))
        // The server may list more than the request asked for.
        .filter(({ ref, oid, peeled }) => ref.startsWith(beginning) && isRefName(ref) && isOid(oid) && isOid(peeled))
        .sort((a, b) => (a.ref < b.ref ? 1 : -1));
      const [ofIt = [], others = []] = [true, false].map((isOfIt) =>
        listed.filter(({ peeled }) => (peeled === commit) === isOfIt).slice(0, MOST_TAGS),
      );
      // Elsewhere each would come with all that it leads to, and whether the folder is the same there would stay unknown.
      const found = [...ofIt, ...(ofOthers && supportsSingleObjects(session) ? others : [])];
      const kept = new Map<string, Buffer>();
      for (const { oid } of found) kept.set(oid, known.get(oid) ?? (await fetchTag(session, oid).catch(unusable)));
      known = kept;
      return found.flatMap(({ ref, oid, peeled }): TagObject[] => {
        const raw = kept.get(oid);
        return raw === undefined ? [] : [{ name: ref.slice('refs/tags/'.length), oid, commit: peeled, raw }];
      });
    });
}

const isOid = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

/** What one tag is like must not keep the others from counting. Nothing stands for it, and is not asked for again. */
function unusable(error: unknown): Buffer {
  if (isGitError(error, 'GIT_TOO_BIG', 'GIT_DAMAGED')) return Buffer.alloc(0);
  throw error;
}

async function fetchTag(session: GitSession, oid: string): Promise<Buffer> {
  const { limits } = session;
  const store = createObjectStore();
  if (supportsSingleObjects(session)) {
    await store.addPack(await requestObjects(session, [oid], limits, { depth: 1 }));
  } else {
    const filter = supportsFilter(session) ? { filter: 'tree:0' } : {};
    const { pack } = await requestPack(session, { want: oid, depth: 1, ...filter }, limits);
    if (pack === null) throw new GitError('GIT_CUT', `${session.url} sent no tag`);
    await store.addPack(pack);
  }
  return store.read(oid, 'tag');
}
