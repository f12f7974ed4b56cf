import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { checkVersion, parseRaw, stampOf } from './record-shape.ts';
import type { Disk, FileOwner } from '../ports/disk.ts';

/** What is remembered beside the copy of the local config. */
export interface LocalRecord {
  /** Whose local config it is: the copy on a copied disk is another node's. */
  readonly node: string;
  /** Hex SHA-256 of the local config's copy. */
  readonly sha256: string;
  readonly owner: Required<FileOwner>;
  /** Hex SHA-256 of what we wrote into the kubelet's config file, the newest last. */
  readonly ours: readonly string[];
  /** The config that the node's owner put in its place since. Our config was not tried over it, or failed. */
  readonly newer?: { readonly sha256: string; readonly owner: Required<FileOwner> };
}

/** The directory `local/` of the state directory. */
export interface LocalRecordStore {
  record(): Promise<LocalRecord | null>;
  /** The local config's copy, whole or not. */
  copy(): Promise<Buffer | null>;
  /** One of the other configs of the node's own that are kept; null if missing or damaged. */
  other(digest: string): Promise<Buffer | null>;
  keepOther(bytes: Buffer): Promise<void>;
  /** Removes the others but these. */
  keepOthersOnly(digests: readonly string[]): Promise<void>;
  /** Durable when it resolves; after a crash in between, the copy does not fit the record. */
  save(record: LocalRecord, copy: Buffer): Promise<void>;
  /** Keeps a file that is in the way and may still be of use. */
  setAside(bytes: Buffer, what: 'damaged' | 'edited'): Promise<void>;
  /** Writes record and copy again where the last look at them found them lost, and this process knows them. */
  writeBack(): Promise<void>;
}

interface Saved {
  readonly record: LocalRecord;
  readonly copy: Buffer;
}

const ROOT_ONLY: FileOwner = { mode: 0o600 };
/** Below the state directory. */
export const LOCAL_RECORD = join('local', 'record');

/**
 * - `kubelet`: the node's own config, for manual recovery;
 * - `kubelet.before`: the one before that, if the node was provisioned again;
 * - `bases/<sha256>`: later ones, which our config was not tried over yet;
 * - `kubelet.damaged`: what was found in the config file and was neither the local config nor ours;
 * - `kubelet.edited`: what became of our file by hand, before that was undone;
 * - `record`: JSON, versioned.
 */
export function createLocalRecordStore(disk: Disk, stateDirectory: string): LocalRecordStore {
  const directory = join(stateDirectory, 'local');
  const copyFile = join(directory, 'kubelet');
  const recordFile = join(stateDirectory, LOCAL_RECORD);
  const others = join(directory, 'bases');
  const read = async (path: string): Promise<Buffer | null> =>
    // Whatever lies there instead of a file is as good as nothing.
    (await disk.stat(path))?.kind === 'file' ? disk.read(path) : null;

  /** As both were when they were whole last: for this process, what is gone from the disk since is not lost. */
  let known: Saved | undefined;
  let isLost = false;
  const recordOnDisk = async (): Promise<LocalRecord | null> =>
    parseRecord((await read(recordFile))?.toString('utf8') ?? '');

  const store: LocalRecordStore = {
    async copy() {
      const copy = await read(copyFile);
      if (copy !== null && known?.copy.equals(copy) === true) return copy;
      const record = copy && (await recordOnDisk());
      if (copy !== null && record?.sha256 === sha256(copy)) {
        known = { record, copy };
        return copy;
      }
      isLost = known !== undefined;
      return known?.copy ?? copy;
    },
    async record() {
      const record = await recordOnDisk();
      if (known === undefined) return record;
      if (record === null) isLost = true;
      else if (record.sha256 === known.record.sha256) known = { ...known, record };
      return record ?? known.record;
    },
    async writeBack() {
      if (isLost && known !== undefined) await store.save(known.record, known.copy);
    },
    async save(record, copy) {
      await disk.makeDirectory(directory, 0o700);
      const before = await read(copyFile);
      if (before?.equals(copy) !== true) {
        // What is damaged was no config.
        if (before !== null && copy !== known?.copy) await disk.replace(`${copyFile}.before`, before, ROOT_ONLY);
        await replaceAnything(disk, copyFile, copy);
      }
      await replaceAnything(
        disk,
        recordFile,
        Buffer.from(`${JSON.stringify({ ...stampOf(record.node), ...record })}\n`),
      );
      [known, isLost] = [{ record, copy }, false];
    },
    async other(digest) {
      const bytes = await read(join(others, digest));
      return bytes !== null && sha256(bytes) === digest ? bytes : null;
    },
    async keepOther(bytes) {
      if ((await store.other(sha256(bytes))) !== null) return;
      for (const path of [directory, others]) await disk.makeDirectory(path, 0o700);
      await replaceAnything(disk, join(others, sha256(bytes)), bytes);
    },
    async keepOthersOnly(digests) {
      if ((await disk.stat(others))?.kind !== 'directory') return;
      for (const name of await disk.list(others)) if (!digests.includes(name)) await disk.remove(join(others, name));
    },
    async setAside(bytes, what) {
      await disk.makeDirectory(directory, 0o700);
      await replaceAnything(disk, `${copyFile}.${what}`, bytes);
    },
  };
  return store;
}

/** A directory in the place of a file cannot be replaced by one. */
async function replaceAnything(disk: Disk, path: string, bytes: Buffer): Promise<void> {
  if ((await disk.stat(path))?.kind === 'directory') await disk.remove(path);
  await disk.replace(path, bytes, ROOT_ONLY);
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** null if damaged. An agent does nothing with the record of another version. */
function parseRecord(text: string): LocalRecord | null {
  try {
    const raw = checkVersion(parseRaw(text)) as Partial<LocalRecord>;
    const { node, sha256, owner, ours, newer } = raw;
    const isSound =
      typeof node === 'string' && isDigest(sha256) && isOwner(owner) && Array.isArray(ours) && ours.every(isDigest);
    if (!isSound) return null;
    const record = { node, sha256, owner, ours } as LocalRecord;
    return isDigest(newer?.sha256) && isOwner(newer?.owner) ? ({ ...record, newer } as LocalRecord) : record;
  } catch {
    return null;
  }
}

const isOwner = (owner: Partial<FileOwner> = {}): boolean =>
  [owner.mode, owner.uid, owner.gid].every((value) => Number.isSafeInteger(value));

const isDigest = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
