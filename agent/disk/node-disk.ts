import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner, FileStat } from './disk.ts';

/** The machine's own disk. Every error is a `GitopsError` that names the path; its cause has the system's code. */
export function createNodeDisk(): Disk {
  return {
    read: (path) => attempt('DISK_READ', `cannot read ${path}`, () => orNull(readFile(path))),
    stat: (path) => attempt('DISK_READ', `cannot look at ${path}`, () => statOf(path)),
    list: (path) =>
      attempt('DISK_READ', `cannot list ${path}`, async () => ((await orNull(readdir(path))) ?? []).sort()),
    replace: (path, bytes, owner) =>
      attempt('DISK_WRITE', `cannot write ${path}`, () => replaceFile(path, bytes, owner)),
    makeDirectory: (path, mode) =>
      attempt('DISK_WRITE', `cannot make the directory ${path}`, () => makeAll(path, mode)),
    remove: (path) => attempt('DISK_WRITE', `cannot remove ${path}`, () => removeAll(path)),
  };
}

/**
 * Marks the files that `replace` writes to before it renames them. They never end in `.conf`, which is what the kubelet
 * reads in its drop-in directory.
 */
const TEMPORARY = '.kubelet-gitops-tmp-';

export function isTemporary(name: string): boolean {
  return name.includes(TEMPORARY);
}

async function replaceFile(path: string, bytes: Uint8Array, owner: FileOwner): Promise<void> {
  const directory = dirname(path);
  const temporary = `${path}${TEMPORARY}${randomBytes(4).toString('hex')}`;
  try {
    // Not readable by others before it has its final mode.
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await own(file, owner);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await removeLeftovers(directory, basename(path));
  await syncDirectory(directory);
}

/** Changes the owner only where it differs: without CAP_CHOWN even root may not. */
async function own(file: FileHandle, { mode, uid, gid }: FileOwner): Promise<void> {
  const now = await file.stat();
  const wanted = { uid: uid ?? now.uid, gid: gid ?? now.gid };
  if (wanted.uid !== now.uid || wanted.gid !== now.gid) await file.chown(wanted.uid, wanted.gid);
  await file.chmod(mode);
}

/** What earlier writes of the same file left behind when the power failed. */
async function removeLeftovers(directory: string, name: string): Promise<void> {
  const leftovers = (await readdir(directory)).filter((other) => other.startsWith(`${name}${TEMPORARY}`));
  for (const leftover of leftovers) await rm(join(directory, leftover), { force: true });
}

async function statOf(path: string): Promise<FileStat | null> {
  const found = await orNull(lstat(path));
  if (found === null) return null;
  const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other';
  return { kind, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid, size: found.size };
}

/** Parents first, each durable before what is in it. */
async function makeAll(path: string, mode: number): Promise<void> {
  const found = await orNull(lstat(path));
  if (found?.isDirectory() === true) return;
  const parent = dirname(path);
  if (parent !== path) await makeAll(parent, mode);
  await mkdir(path, { mode, recursive: true });
  await syncDirectory(parent);
}

async function removeAll(path: string): Promise<void> {
  if ((await orNull(lstat(path))) === null) return;
  await rm(path, { recursive: true, force: true });
  await syncDirectory(dirname(path));
}

/** A rename or a removal survives a power failure only when the directory itself has reached the disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

async function attempt<T>(code: 'DISK_READ' | 'DISK_WRITE', what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const advice = ADVICE[codeOf(error) ?? ''] ?? reasonOf(error);
    throw new GitopsError(code, `${what}: ${advice}`, { cause: error });
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EROFS: 'the file system is mounted read-only, often after disk errors: look at the kernel log',
  EIO: 'the disk reports errors: look at the kernel log',
};
