import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner } from '../../ports/disk.ts';
import { type FileCalls, type NewFile, systemCalls } from './file-calls.ts';

/** The machine's own disk. Every error is a `GitopsError` that names the path; its cause has the system's code. */
export function createNodeDisk(calls: FileCalls = systemCalls): Disk {
  const { readFile, lstat, readdir } = calls;
  return {
    read: (path) => attempt('DISK_READ', `cannot read ${path}`, () => orNull(readFile(path))),
    stat: (path) => attempt('DISK_READ', `cannot look at ${path}`, () => orNull(lstat(path))),
    list: (path) =>
      attempt('DISK_READ', `cannot list ${path}`, async () => [...((await orNull(readdir(path))) ?? [])].sort()),
    replace: (path, bytes, owner) =>
      attempt('DISK_WRITE', `cannot write ${path}`, () => replaceFile(calls, path, bytes, owner)),
    writeOver: (path, bytes) => attempt('DISK_WRITE', `cannot write over ${path}`, () => calls.writeOver(path, bytes)),
    makeDirectory: (path, mode) =>
      attempt('DISK_WRITE', `cannot make the directory ${path}`, () => makeAll(calls, path, mode)),
    remove: (path) => attempt('DISK_WRITE', `cannot remove ${path}`, () => removeAll(calls, path)),
  };
}

/**
 * Marks the files that `replace` writes to before it renames them. They never end in `.conf`, which is what the kubelet
 * reads in its drop-in directory.
 */
const TEMPORARY = '.kubelet-gitops-tmp-';
const TEMPORARY_SUFFIX = /\.kubelet-gitops-tmp-[0-9a-f]*/g;

export function isTemporary(name: string): boolean {
  return name.includes(TEMPORARY);
}

async function replaceFile(calls: FileCalls, path: string, bytes: Uint8Array, owner: FileOwner): Promise<void> {
  const directory = dirname(path);
  const temporary = `${path}${TEMPORARY}${randomBytes(4).toString('hex')}`;
  try {
    // Not readable by others before it has its final mode.
    const file = await calls.create(temporary, 0o600);
    try {
      await file.write(bytes);
      await own(file, owner);
      await file.sync();
    } finally {
      await file.close();
    }
    await calls.rename(temporary, path);
  } catch (error) {
    await calls.unlink(temporary).catch(() => undefined);
    throw error;
  }
  await removeLeftovers(calls, directory, basename(path));
  await calls.syncDirectory(directory);
}

/** Changes only an owner that differs: without CAP_CHOWN even root may not. */
async function own(file: NewFile, { mode, uid, gid }: FileOwner): Promise<void> {
  const now = await file.stat();
  const wanted = { uid: uid ?? now.uid, gid: gid ?? now.gid };
  if (wanted.uid !== now.uid || wanted.gid !== now.gid) await file.chown(wanted.uid, wanted.gid);
  await file.chmod(mode);
}

/** What earlier writes of the same file left behind when the power failed. */
async function removeLeftovers(calls: FileCalls, directory: string, name: string): Promise<void> {
  const leftovers = (await calls.readdir(directory)).filter((other) => other.startsWith(`${name}${TEMPORARY}`));
  for (const leftover of leftovers) await removeTree(calls, join(directory, leftover));
}

/** Parents first, each durable before what is in it. */
async function makeAll(calls: FileCalls, path: string, mode: number): Promise<void> {
  const found = await orNull(calls.lstat(path));
  if (found?.kind === 'directory') return;
  const parent = dirname(path);
  if (parent !== path) await makeAll(calls, parent, mode);
  await calls.mkdir(path, mode);
  await calls.syncDirectory(parent);
}

async function removeAll(calls: FileCalls, path: string): Promise<void> {
  if ((await orNull(calls.lstat(path))) === null) return;
  await removeTree(calls, path);
  await calls.syncDirectory(dirname(path));
}

/** Gone already is fine. */
async function removeTree(calls: FileCalls, path: string): Promise<void> {
  const found = await orNull(calls.lstat(path));
  if (found === null) return;
  if (found.kind !== 'directory') return void (await orNull(calls.unlink(path)));
  for (const name of ((await orNull(calls.readdir(path))) ?? []).toSorted()) await removeTree(calls, join(path, name));
  await orNull(calls.rmdir(path));
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
    const cause = withoutTemporaryName(error);
    // Of a file that was just made and is ours: no attribute of it can be in the way.
    const isOwner = error instanceof Error && /, f?chown\b/.test(error.message);
    const advice = ADVICE[isOwner ? 'chown' : (codeOf(cause) ?? '')] ?? reasonOf(cause);
    throw new GitopsError(code, `${what}: ${advice}`, { cause });
  }
}

/** Each try has another temporary name. Without it, the texts of one fault are the same. */
function withoutTemporaryName(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !isTemporary(thrown.message)) return thrown;
  const code = codeOf(thrown);
  return Object.assign(new Error(thrown.message.replaceAll(TEMPORARY_SUFFIX, '')), code === undefined ? {} : { code });
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EROFS: 'the file system is mounted read-only, often after disk errors: look at the kernel log',
  EIO: 'the disk reports errors: look at the kernel log',
  EBUSY: 'it is mounted by itself, so nothing can take its place: mount the directory that it is in instead',
  EACCES:
    'permission denied: root without the capability DAC_OVERRIDE is refused like anybody else, or SELinux refuses it',
  chown: 'its owner or group is not root, and nobody may give a file away without the capability CHOWN',
  EPERM: 'root may not either: is it, or its directory, immutable (lsattr)?',
};
