import { join } from 'node:path';
import type { Disk } from '../ports/disk.ts';
import { fieldsOfConfig } from './config-fields.ts';

type Config = Readonly<Record<string, unknown>>;

/** Late by name among the drop-ins, so that hardly anything of the node's own stands above it. */
export const DROP_IN_NAME = '99-kubelet-gitops.conf';

/** Drop-ins that the node was provisioned with, around the place of ours. */
interface OwnDropIns {
  readonly below: readonly Config[];
  /** These win over what we install. */
  readonly above: readonly Config[];
}

export const NO_DROP_INS: OwnDropIns = { below: [], above: [] };

/** How deep directories are followed; a kubelet has no limit, and real trees are not as deep. */
const MAX_DEPTH = 8;

/**
 * Reads them as the kubelet does: every `*.conf` at any depth, each directory in lexical order. One that cannot be read is
 * left out here: the kubelet does not start with it, whatever we install.
 */
export async function readOwnDropIns(disk: Disk, directory: string): Promise<OwnDropIns> {
  const names = await disk.list(directory);
  const read = async (some: readonly string[]): Promise<readonly Config[]> =>
    (await Promise.all(some.map((name) => configsAt(disk, join(directory, name), 0)))).flat();
  return {
    below: await read(names.filter((name) => name < DROP_IN_NAME)),
    above: await read(names.filter((name) => name > DROP_IN_NAME)),
  };
}

async function configsAt(disk: Disk, path: string, depth: number): Promise<readonly Config[]> {
  const stat = await disk.stat(path);
  if (stat?.kind === 'directory' && depth < MAX_DEPTH) {
    const names = await disk.list(path);
    return (await Promise.all(names.map((name) => configsAt(disk, join(path, name), depth + 1)))).flat();
  }
  // Links included: the kubelet reads what they lead to.
  if (stat === null || stat.kind === 'directory' || !path.endsWith('.conf')) return [];
  const bytes = await disk.read(path).catch(() => null);
  const value = bytes === null ? undefined : fieldsOfConfig(bytes);
  return value === undefined ? [] : [value];
}
