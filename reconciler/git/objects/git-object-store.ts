import git from 'isomorphic-git';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, isGitError } from '../errors.ts';
import { createEventLoopYield } from '../event-loop-yield.ts';
import { damagedPack } from '../wire/pack-entry.ts';
import { createMemoryFs } from './memory-fs.ts';
import { type ObjectPack, openPack, type PackedObject } from './pack.ts';
import { isSha1CollisionAttack } from './sha1-collision.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Git objects in memory. A new one is made for every use and thrown away whole: nothing in it ever goes stale. */
export interface ObjectStore {
  /**
   * Takes in a pack that was scanned.
   *
   * @returns the names of its objects, computed from their bytes
   * @throws GitError `GIT_DAMAGED`, also where an object here has the same name and other bytes
   */
  addPack(pack: Buffer): Promise<ReadonlySet<string>>;
  /** Whether the object was taken in or written here. */
  has(oid: string): boolean;
  /**
   * @throws GitError `GIT_DAMAGED` where the object is not there or of another type, or is not a file and was made for a
   *   collision of SHA-1
   */
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

/** @param isMade whether bytes were made for a collision of SHA-1 */
export function createObjectStore(isMade = isSha1CollisionAttack): ObjectStore {
  const repo = { fs: createMemoryFs(), gitdir: GITDIR, cache: {} };
  const written = new Set<string>();
  const packed = new Map<string, ObjectPack>();
  /** Commits, trees and tags that were checked for a collision of SHA-1. */
  const single = new Set<string>();
  const spend = createEventLoopYield();

  async function readWritten(oid: string): Promise<{ readonly type: string; readonly bytes: Buffer }> {
    try {
      const { type, object } = await git.readObject({ ...repo, oid, format: 'content' });
      if (!(object instanceof Uint8Array)) throw damagedPack(`the object ${oid} has no bytes`);
      return { type, bytes: Buffer.from(object.buffer, object.byteOffset, object.byteLength) };
    } catch (error) {
      if (isGitError(error)) throw error;
      const why = codeOf(error) ?? 'unreadable';
      throw new GitError('GIT_DAMAGED', `what the git server sent is damaged or incomplete (${why})`, { cause: error });
    }
  }

  return {
    repo,
    async addPack(bytes) {
      const pack = await openPack(bytes, spend);
      const oids = new Set(pack.oids);
      for (const oid of oids) {
        const present = packed.get(oid);
        if (present === undefined) packed.set(oid, pack);
        else if (!isSame(present.read(oid), pack.read(oid))) throw damagedPack(`two objects have the name ${oid}`);
      }
      return oids;
    },
    has: (oid) => packed.has(oid) || written.has(oid),
    async read(oid, type) {
      const found = packed.get(oid)?.read(oid) ?? (await readWritten(oid));
      const pause = spend(found.bytes.length);
      if (pause !== undefined) await pause;
      if (found.type !== type) throw new GitError('GIT_DAMAGED', `the object ${oid} is no ${type}, as it should be`);
      // Not of files: what a collision is made of is no text, and is not read as configuration.
      if (type !== 'blob' && !single.has(oid)) {
        const named = Buffer.concat([Buffer.from(`${type} ${found.bytes.length}\0`), found.bytes]);
        if (await isMade(named, spend)) {
          throw damagedPack(`the ${type} ${oid} was made so that another one has the same name (a collision of SHA-1)`);
        }
        single.add(oid);
      }
      return found.bytes;
    },
    async write(type, object) {
      const oid = await git.writeObject({ ...repo, type, object, format: 'content' });
      written.add(oid);
      return oid;
    },
  };
}

const isSame = (one: PackedObject | undefined, other: PackedObject | undefined): boolean =>
  one !== undefined && other !== undefined && one.type === other.type && one.bytes.equals(other.bytes);
