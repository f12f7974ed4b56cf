import git from 'isomorphic-git';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, isGitError } from '../errors.ts';
import { createMemoryFs } from './memory-fs.ts';

export type ObjectType = 'commit' | 'tree' | 'blob';

/** Git objects in memory. A new one is made for every use and thrown away whole: nothing in it ever goes stale. */
export interface ObjectStore {
  /** Takes in a pack that was scanned. @returns the names of its objects, computed from their bytes */
  addPack(pack: Buffer): Promise<ReadonlySet<string>>;
  /** Whether the object was taken in or written here. */
  has(oid: string): boolean;
  /** @throws GitError `GIT_DAMAGED` where the object is not there or of another type */
  read(oid: string, type: ObjectType): Promise<Buffer>;
  write(type: ObjectType, content: Uint8Array): Promise<string>;
  /** What isomorphic-git's functions are called with. */
  readonly repo: RepoParameters;
}

export interface RepoParameters {
  readonly fs: ReturnType<typeof createMemoryFs>;
  readonly gitdir: string;
  readonly cache: object;
}

const GITDIR = '/git';

export function createObjectStore(): ObjectStore {
  const repo = { fs: createMemoryFs(), gitdir: GITDIR, cache: {} };
  const known = new Set<string>();
  let packs = 0;
  return {
    repo,
    async addPack(pack) {
      packs += 1;
      const filepath = `objects/pack/pack-${packs}.pack`;
      await repo.fs.promises.writeFile(`${GITDIR}/${filepath}`, pack);
      const { oids } = await onObjects(() => git.indexPack({ ...repo, dir: GITDIR, filepath }));
      for (const oid of oids) known.add(oid);
      return new Set(oids);
    },
    has: (oid) => known.has(oid),
    async read(oid, type) {
      const found = await onObjects(() => git.readObject({ ...repo, oid, format: 'content' }));
      if (found.type !== type || !(found.object instanceof Uint8Array)) {
        throw new GitError('GIT_DAMAGED', `the object ${oid} is no ${type}, as it should be`);
      }
      return Buffer.from(found.object.buffer, found.object.byteOffset, found.object.byteLength);
    },
    async write(type, object) {
      const oid = await git.writeObject({ ...repo, type, object, format: 'content' });
      known.add(oid);
      return oid;
    },
  };
}

async function onObjects<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isGitError(error)) throw error;
    const why = codeOf(error) ?? 'unreadable';
    throw new GitError('GIT_DAMAGED', `what the git server sent is damaged or incomplete (${why})`, { cause: error });
  }
}
