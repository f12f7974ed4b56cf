import { dirname, join } from 'node:path';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import { isTemporary } from '../host/disk/node-disk.ts';
import type { Guard } from '../ports/guard.ts';
import { isStagedPath } from '../guard/guard-paths.ts';
import { createLocalRecordStore, sha256 } from '../host/local-record.ts';
import type { Installer, InstallPlan } from '../ports/installer.ts';

interface UninstallOptions {
  readonly disk: Disk;
  /** The disk as the rest of the agent has it: nothing is written on it any more once all is gone. */
  readonly seal: () => void;
  readonly stateDirectory: string;
  /** The kubelet's `--config`. */
  readonly configFile: string;
  /** The kubelet's `--config-dir`. */
  readonly dropInDirectory: string | undefined;
  readonly installer: Pick<Installer, 'plan' | 'isInstalled' | 'forgetState' | 'settle'>;
  readonly guard: Pick<Guard, 'disarm'>;
  /** Gives the lock on the state directory back, which is the last thing in it. */
  readonly releaseLock: () => Promise<void>;
}

/** Begins the names of the lock and of who waits for it, in the state directory. */
export const LOCK_NAME = 'agent.sock';

/** Below the state directory: first what no fallback needs, last what a fallback needs. */
const FIRST = ['checkpoints', 'guard'];
const LAST = ['meta', 'local'];

/**
 * Takes everything of ours off a node that is at rest with its local config: to be called when nothing is installed and
 * nothing is guarded, and again until it resolves. Killed anywhere, it goes on at the next start: what is still there says
 * the same as before, and less and less of it.
 *
 * 1. Proves that the kubelet's config file is the node's own, byte by byte. Without that nothing is removed. Where the owner wrote
 *    another one since, that one takes its place.
 * 2. The guard: drop-in, timer, what it would have put back.
 * 3. What interrupted writes left beside the kubelet's files.
 * 4. The state directory's contents: checkpoints, then the agent's memory, and the copy of the local config last.
 * 5. The lock. The directory itself stays, empty: it is a mount of the pod.
 *
 * @throws GitopsError `UNINSTALL_NOT_LOCAL`, `GUARD_FILES`, `DISK_*`
 */
export function createUninstall(options: UninstallOptions): () => Promise<void> {
  const { disk, seal, stateDirectory, configFile, dropInDirectory, installer, guard, releaseLock } = options;
  return async () => {
    await proveLocal(options, await installer.plan(null));
    // The copy of what the node's owner wrote last goes as well, so that it has to be in its place.
    await installer.settle({ config: null, needed: [], refused: null });
    await proveLocal(options, await installer.plan(null));
    await guard.disarm();
    await installer.forgetState();
    const places = new Set([dirname(configFile), ...(dropInDirectory === undefined ? [] : [dropInDirectory])]);
    for (const place of places) await removeLeftovers(disk, place);
    const names = (await disk.list(stateDirectory)).filter((name) => !name.startsWith(LOCK_NAME));
    const others = names.filter((name) => !FIRST.includes(name) && !LAST.includes(name));
    seal();
    for (const name of [...FIRST, ...others, ...LAST]) await disk.remove(join(stateDirectory, name));
    await releaseLock();
  };
}

/** The installer may have its reasons to call a node local; before the only copy goes, the bytes themselves are asked. */
async function proveLocal(
  { disk, stateDirectory, configFile, installer }: UninstallOptions,
  plan: InstallPlan,
): Promise<void> {
  if (!(await installer.isInstalled(plan))) throw notLocal('the managed files are not those of the local config');
  for (const file of plan.files) {
    if (file.holds !== 'local') continue;
    if ((await disk.read(file.path))?.equals(file.bytes) !== true) throw notLocal(`${file.path} differs from it`);
  }
  const local = createLocalRecordStore(disk, stateDirectory);
  const [record, copy, present] = [await local.record(), await local.copy(), await disk.read(configFile)];
  if (present === null) {
    if (record !== null || copy !== null) throw notLocal(`${configFile} is missing`);
    return;
  }
  if (copy?.equals(present) === true || (record === null && copy === null)) return;
  // Provisioned again since it was put aside: then it is a config, and none of those that we wrote.
  const isOurs = record?.ours.includes(sha256(present)) === true;
  if (isOurs) throw notLocal(`${configFile} was written by this agent`);
  const isConfig = decodeKubeletConfig(present, configFile).value !== undefined;
  if (!isConfig) throw notLocal(`${configFile} is not a kubelet config, and the copy in ${stateDirectory}/local is`);
}

/** Files that are written are never called so for longer than a moment. */
async function removeLeftovers(disk: Disk, directory: string): Promise<void> {
  for (const name of await disk.list(directory)) {
    if (isTemporary(name) || isStagedPath(name)) await disk.remove(join(directory, name));
  }
}

function notLocal(why: string): GitopsError<'UNINSTALL_NOT_LOCAL'> {
  const message = `the node's own config is not proven to be in place, so its copy stays: ${why}`;
  return new GitopsError('UNINSTALL_NOT_LOCAL', message);
}

/** A disk for all who still work while the node is given up: sealed, it refuses every write. */
export function createSealableDisk(disk: Disk): { readonly disk: Disk; readonly seal: () => void } {
  let sealed = false;
  const unlessSealed =
    <A extends readonly unknown[]>(write: (...args: A) => Promise<void>) =>
    (...args: A): Promise<void> =>
      sealed ? Promise.resolve() : write(...args);
  return {
    disk: {
      ...disk,
      replace: unlessSealed(disk.replace),
      writeOver: unlessSealed(disk.writeOver),
      makeDirectory: unlessSealed(disk.makeDirectory),
      remove: unlessSealed(disk.remove),
    },
    seal: () => {
      sealed = true;
    },
  };
}
