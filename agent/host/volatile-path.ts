import { readFile, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What is asked of the system: that of one path rejects where there is none. */
export interface FileSystemCalls {
  /** `f_type` of statfs(2), `st_dev` of stat(2). */
  readonly fileSystemOf: (path: string) => Promise<FileSystem>;
  /** `/proc/self/mountinfo`: also that of a container has an overlay with its layers, as the host names them. */
  readonly mounts: () => Promise<string>;
}

interface FileSystem {
  readonly type: number;
  readonly device: number;
}

const systemCalls: FileSystemCalls = {
  fileSystemOf: async (path) => ({ type: (await statfs(path)).type, device: (await stat(path)).dev }),
  mounts: () => readFile('/proc/self/mountinfo', 'utf8'),
};

const VOLATILE = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x794c7630, 'an overlay'],
]);

/**
 * On which file system a path of the host is, if a boot makes that again; undefined if what is there outlives a boot. The path is
 * the same for the host and for this process; it may be missing.
 *
 * An overlay outlives boots if its upper layer is on a disk. A machine that is a container itself (kind) keeps its root for as
 * long as it lives, whatever that is on.
 *
 * @param hostRoot where the host's root directory is seen
 */
export async function volatileFileSystemOf(
  path: string,
  hostRoot: string,
  calls: FileSystemCalls = systemCalls,
): Promise<string | undefined> {
  const found = await nearest(path, calls);
  const name = VOLATILE.get(found.type);
  if (name === undefined) return undefined;
  const upper = upperLayer(await calls.mounts(), found.device);
  if (upper !== undefined && !VOLATILE.has((await nearest(join(hostRoot, upper), calls)).type)) return undefined;
  const isInContainer = await isThere(join(hostRoot, '/run/systemd/container'), calls);
  return isInContainer && (await nearest(hostRoot, calls)).device === found.device ? undefined : name;
}

/**
 * Why a boot in mid-trial would find nothing of what takes the trial back, in a sentence; undefined if it would. A path
 * whose file system is unknown is accepted.
 *
 * @param paths by the settings that name them
 * @param ask see `volatileFileSystemOf`
 */
export async function whyForgottenByBoots(
  paths: Readonly<Record<string, string>>,
  ask: (path: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const [setting, path] of Object.entries(paths)) {
    const fileSystem = await ask(path).catch(() => undefined);
    if (fileSystem === undefined) continue;
    const why = `${path} (${setting}) is on ${fileSystem}, so a boot in the middle of a trial would take the guard away`;
    return `${why}: put it on a disk, or accept that with GUARD=off`;
  }
  return undefined;
}

/** Of the path, or of the nearest directory above it that there is. */
const nearest = (path: string, calls: FileSystemCalls): Promise<FileSystem> =>
  calls.fileSystemOf(path).catch((error: unknown) => {
    if (dirname(path) === path) throw error;
    return nearest(dirname(path), calls);
  });

const isThere = (path: string, { fileSystemOf }: FileSystemCalls): Promise<boolean> =>
  fileSystemOf(path).then(
    () => true,
    () => false,
  );

function upperLayer(mounts: string, device: number): string | undefined {
  const major = Math.floor(device / 256) % 4096;
  const minor = (device % 256) + Math.floor(device / 2 ** 20) * 256;
  const mount = mounts.split('\n').find((line) => line.split(' ')[2] === `${major}:${minor}`);
  return /[ ,]upperdir=([^ ,]+)/.exec(mount ?? '')?.[1];
}
