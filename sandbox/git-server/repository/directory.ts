import * as fs from 'node:fs';
import { deleteRef, init, listRefs, readObject as readStored, resolveRef, writeObject, writeRef } from 'isomorphic-git';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitObject, Oid } from '#sandbox/git-server/objects/oid.ts';
import { referencesOf } from '#sandbox/git-server/objects/git-object.ts';
import type { Persistence, RepositoryContent } from './repository.ts';

const DEFAULT_HEAD = 'refs/heads/main';

/**
 * Opens the bare repository in a directory, or makes one there: loose objects and refs that every git can read.
 * Only what refs reach is read. No other program may write to it while the server runs.
 *
 * @throws GitServerError `GIT_REPOSITORY_UNREADABLE`
 */
export async function openDirectory(directory: string): Promise<RepositoryContent & Persistence> {
  const at = { fs, gitdir: directory, cache: {} };
  await init({ ...at, bare: true, defaultBranch: 'main' });
  const refs = await readRefs(at);
  return {
    head: await resolveRef({ ...at, ref: 'HEAD', depth: 2 }).catch(() => DEFAULT_HEAD),
    refs,
    objects: await readReachable(at, refs),
    async save(objects, changed) {
      for (const { type, body } of objects.values()) {
        await writeObject({ ...at, type, format: 'content', object: body });
      }
      for (const [ref, oid] of changed) {
        await (oid === null ? deleteRef({ ...at, ref }) : writeRef({ ...at, ref, value: oid, force: true }));
      }
    },
  };
}

interface Place {
  readonly fs: typeof fs;
  readonly gitdir: string;
  readonly cache: object;
}

async function readRefs(at: Place): Promise<ReadonlyMap<string, Oid>> {
  const refs = new Map<string, Oid>();
  for (const name of await listRefs({ ...at, filepath: 'refs' })) {
    const ref = `refs/${name}`;
    refs.set(ref, await resolveRef({ ...at, ref }));
  }
  return refs;
}

async function readReachable(at: Place, refs: ReadonlyMap<string, Oid>): Promise<ReadonlyMap<Oid, GitObject>> {
  const objects = new Map<Oid, GitObject>();
  const wanted = new Set(refs.values());
  for (const oid of wanted) {
    const object = await readObject(at, oid);
    objects.set(oid, object);
    for (const named of referencesOf(object)) wanted.add(named);
  }
  return objects;
}

async function readObject(at: Place, oid: Oid): Promise<GitObject> {
  try {
    const { type, object } = await readStored({ ...at, oid, format: 'content' });
    return { type: type as GitObject['type'], body: Buffer.from(object as Uint8Array) };
  } catch (error) {
    const message = `cannot read object ${oid} of the repository in ${at.gitdir}: take another directory or repair it with git fsck`;
    throw new GitServerError('GIT_REPOSITORY_UNREADABLE', message, { cause: error });
  }
}
