import { applyDelta } from './delta.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitObject, ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { oidOf, referencesOf } from '#sandbox/git-server/objects/git-object.ts';
import type { PackEntry, PackLimits } from './pack-entries.ts';
import { readEntries } from './pack-entries.ts';

/**
 * The objects of a pushed pack by name. Bases of deltas may be in the pack or in the repository (a thin pack).
 *
 * @throws GitServerError `GIT_PACK_INVALID`
 */
export function readPack(pack: Buffer, inRepository: ObjectLookup, limits: PackLimits): ReadonlyMap<Oid, GitObject> {
  const byOffset = new Map<number, GitObject>();
  const byOid = new Map<Oid, GitObject>();
  let total = 0;
  const baseOf = (entry: PackEntry): GitObject | undefined => {
    if (entry.form.is === 'whole') return undefined;
    const { base } = entry.form;
    return 'at' in base ? byOffset.get(base.at) : (byOid.get(base.oid) ?? inRepository(base.oid));
  };

  let waiting = readEntries(pack, limits);
  while (waiting.length > 0) {
    const left: PackEntry[] = [];
    for (const entry of waiting) {
      const object = wholeOf(entry, baseOf(entry), limits);
      if (object === undefined) {
        left.push(entry);
        continue;
      }
      total += object.body.length;
      if (total > limits.maxTotalBytes) throw invalid(`pack unfolds to more than ${limits.maxTotalBytes} bytes`);
      byOffset.set(entry.at, object);
      byOid.set(oidOf(object), object);
    }
    if (left.length === waiting.length) throw invalid('a delta has its base neither in the pack nor in the repository');
    waiting = left;
  }
  return byOid;
}

/**
 * The repository holds no object without everything that it names, and this keeps it so.
 *
 * @returns the first object that is named and is nowhere, or undefined
 */
export function firstMissing(incoming: ReadonlyMap<Oid, GitObject>, inRepository: ObjectLookup): Oid | undefined {
  for (const object of incoming.values()) {
    for (const oid of referencesOf(object)) {
      if (!incoming.has(oid) && inRepository(oid) === undefined) return oid;
    }
  }
  return undefined;
}

function wholeOf(entry: PackEntry, base: GitObject | undefined, limits: PackLimits): GitObject | undefined {
  if (entry.form.is === 'whole') return { type: entry.form.type, body: entry.body };
  if (base === undefined) return undefined;
  return { type: base.type, body: applyDelta(base.body, entry.body, limits.maxObjectBytes) };
}

const invalid = (message: string) => new GitServerError('GIT_PACK_INVALID', message);
