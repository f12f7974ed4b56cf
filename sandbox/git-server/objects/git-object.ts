import { unreachable } from '#shared/runtime/errors.ts';
import { createHash } from 'node:crypto';
import { readCommit } from './commit-object.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import { readTree } from './tree-object.ts';
import type { GitObject, ObjectLookup, Oid } from './oid.ts';

export function oidOf(object: GitObject): Oid {
  return createHash('sha1').update(`${object.type} ${object.body.length}\0`).update(object.body).digest('hex');
}

/** The objects that this one names. Submodules are left out: their commits live in other repositories. */
export function referencesOf(object: GitObject): readonly Oid[] {
  switch (object.type) {
    case 'blob':
      return [];
    case 'tree':
      return readTree(object.body)
        .filter((entry) => entry.kind !== 'submodule')
        .map((entry) => entry.oid);
    case 'commit': {
      const commit = readCommit(object.body);
      return [commit.tree, ...commit.parents];
    }
    case 'tag':
      return [taggedBy(object.body)];
    default:
      return unreachable(object.type);
  }
}

/** What an oid comes down to when annotated tags are followed, with the tags on the way. */
export function peel(lookup: ObjectLookup, oid: Oid): { readonly target: Oid; readonly tags: readonly Oid[] } {
  const tags: Oid[] = [];
  let target = oid;
  for (let object = lookup(target); object?.type === 'tag'; object = lookup(target)) {
    tags.push(target);
    target = taggedBy(object.body);
  }
  return { target, tags };
}

function taggedBy(body: Buffer): Oid {
  const oid = /^object ([0-9a-f]{40})\n/.exec(body.toString('latin1', 0, 64))?.[1];
  if (oid === undefined) throw new GitServerError('GIT_PACK_INVALID', 'a tag object names nothing that it tags');
  return oid;
}
