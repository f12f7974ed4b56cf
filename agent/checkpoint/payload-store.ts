import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { MOST_CONFIG_MAP_BYTES } from '#shared/contract/config-map-hash.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import { isTransientDiskError } from '../host/disk/transient-errors.ts';
import { isTemporary } from '../host/disk/node-disk.ts';
import type { Config } from '../decide/state.ts';
import { ensureDirectories, readFile } from '../host/state-files.ts';

/**
 * The payload on the node's disk, byte for byte what was assigned, or why it is not there. `isTransientDiskError`: it may well be there,
 * and could not be read for want of something that others let go of.
 */
export type Checkpoint = { readonly payload: string } | { readonly lost: string; readonly mayPass?: boolean };

/** A payload is put where Dynamic Kubelet Configuration put it: `checkpoints/<uid>/<resourceVersion>/<key>`. */
export interface PayloadStore {
  read(config: Config): Promise<Checkpoint>;
  /** @throws `GitopsError` where the disk refuses */
  write(config: Config, payload: string): Promise<void>;
  /** Writes again what this process knows and found lost. @throws `GitopsError` where the disk refuses */
  writeBack(): Promise<void>;
  /** Removes everything but the payloads of these configs. */
  keepOnly(configs: readonly Config[]): Promise<void>;
}

export function createPayloadStore(disk: Disk, directory: string): PayloadStore {
  const pathOf = ({ source: { uid, resourceVersion, key } }: Config): string =>
    join(directory, uid, resourceVersion, key);
  /** By path: of what is lost, one process has it still. */
  const known = new Map<string, { readonly config: Config; readonly payload: string }>();
  const lost = new Set<string>();
  const write = async (config: Config, payload: string): Promise<void> => {
    const path = pathOf(config);
    await ensureDirectories(disk, directory, dirname(dirname(path)), dirname(path));
    await disk.replace(path, Buffer.from(payload, 'utf8'), { mode: 0o600 });
    lost.delete(path);
  };
  return {
    write,
    async read(config) {
      const path = pathOf(config);
      const found = await readPayload(disk, path, config.source.sha256);
      if ('payload' in found) {
        known.set(path, { config, payload: found.payload });
        return found;
      }
      const before = known.get(path);
      if (before?.config.source.sha256 !== config.source.sha256) return found;
      if (found.mayPass !== true) lost.add(path);
      return { payload: before.payload };
    },
    async writeBack() {
      for (const path of lost) {
        const before = known.get(path);
        if (before !== undefined) await write(before.config, before.payload);
      }
    },
    async keepOnly(configs) {
      const keep = new Set<string>();
      for (const config of configs) {
        for (let path = pathOf(config); path.length > directory.length; path = dirname(path)) keep.add(path);
      }
      for (const path of known.keys()) if (!keep.has(path)) known.delete(path);
      await prune(disk, directory, keep, 3);
    },
  };
}

async function readPayload(disk: Disk, path: string, sha256: string): Promise<Checkpoint> {
  try {
    const bytes = await readFile(disk, path, MOST_CONFIG_MAP_BYTES);
    if (bytes === null) return { lost: `the checkpoint ${path} is gone` };
    if (createHash('sha256').update(bytes).digest('hex') === sha256) return { payload: bytes.toString('utf8') };
    return { lost: `the checkpoint ${path} is damaged: its SHA-256 is not the one that was assigned` };
  } catch (error) {
    return { lost: `the checkpoint cannot be read: ${reasonOf(error)}`, mayPass: isTransientDiskError(error) };
  }
}

/** The tree is three levels deep; what does not belong goes whole. What a link leads to is not ours. */
async function prune(disk: Disk, directory: string, keep: ReadonlySet<string>, levels: number): Promise<void> {
  if ((await disk.stat(directory))?.kind !== 'directory') return;
  for (const name of await disk.list(directory)) {
    const path = join(directory, name);
    if (isTemporary(name) || !keep.has(path)) await disk.remove(path);
    else if (levels > 1) await prune(disk, path, keep, levels - 1);
  }
}
