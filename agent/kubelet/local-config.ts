import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner } from '../disk/disk.ts';

/** What the node was provisioned with, told apart from what we put into the same file. */
export interface LocalConfig {
  /** The local config's exact bytes. */
  readonly bytes: Buffer;
  readonly owner: FileOwner;
  /** The kubelet's config file holds something that we wrote. */
  readonly isOurs: boolean;
}

/** Keeps the local config safe while the kubelet's config file is ours. */
export interface LocalConfigKeeper {
  /** Throws `GitopsError` `INSTALL_NO_LOCAL_CONFIG` or `INSTALL_NOT_A_FILE`. Reads only. */
  read(): Promise<LocalConfig>;
  /**
   * To be called before `bytes` go into the config file: puts the local config aside, and remembers the bytes as ours, so that
   * a crash right after leaves nobody in doubt. Safe to repeat.
   */
  beforeWriting(local: LocalConfig, bytes: string): Promise<void>;
}

/** `local/record`, versioned. */
interface LocalRecord {
  readonly version: 1;
  /** Hex SHA-256 of the local config put aside. */
  readonly sha256: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Hex SHA-256 of what we wrote into the config file, the newest last. */
  readonly ours: readonly string[];
}

/** Two would do (the one before and the one about to be written); more cost nothing. */
const MOST_REMEMBERED = 8;

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

export function createLocalConfigKeeper(disk: Disk, stateDirectory: string, configFile: string): LocalConfigKeeper {
  const directory = join(stateDirectory, 'local');
  const savedFile = join(directory, 'kubelet');
  const recordFile = join(directory, 'record');

  return {
    async read() {
      const record = await readRecord(disk, recordFile);
      const saved = record === null ? null : await disk.read(savedFile);
      const stat = await disk.stat(configFile);
      if (stat !== null && stat.kind !== 'file') throw notAFile(configFile);
      const present = stat === null ? null : await disk.read(configFile);
      const trusted = saved !== null && record !== null && sha256(saved) === record.sha256;

      if (present === null || stat === null) {
        if (!trusted) throw noLocalConfig(configFile);
        return { bytes: saved, owner: ownerOf(record), isOurs: false };
      }
      const isOurs = record?.ours.includes(sha256(present)) === true;
      if (isOurs && trusted) return { bytes: saved, owner: ownerOf(record), isOurs };
      if (isOurs) throw noLocalConfig(configFile);
      // Neither ours nor what was put aside: somebody provisioned the node anew, and that is its local config from now on.
      return { bytes: present, owner: { mode: stat.mode, uid: stat.uid, gid: stat.gid }, isOurs };
    },

    async beforeWriting({ bytes, owner }, written) {
      const record = await readRecord(disk, recordFile);
      const ours = [...(record?.ours ?? []).filter((known) => known !== sha256(written)), sha256(written)];
      // The local config itself may be written back: those bytes are not ours.
      const remembered = ours.filter((known) => known !== sha256(bytes)).slice(-MOST_REMEMBERED);
      const { mode, uid = 0, gid = 0 } = owner;
      const next: LocalRecord = { version: 1, sha256: sha256(bytes), mode, uid, gid, ours: remembered };
      await disk.makeDirectory(directory, 0o700);
      // The payload before the reference to it: a crash in between leaves a record that no longer fits its copy, which is then
      // written again, because the config file still holds the local config itself.
      if (record?.sha256 !== next.sha256 || (await disk.read(savedFile)) === null) {
        await disk.replace(savedFile, bytes, { mode: 0o600 });
      }
      await disk.replace(recordFile, Buffer.from(`${JSON.stringify(next)}\n`), { mode: 0o600 });
    },
  };
}

const ownerOf = ({ mode, uid, gid }: LocalRecord): FileOwner => ({ mode, uid, gid });

async function readRecord(disk: Disk, path: string): Promise<LocalRecord | null> {
  const bytes = await disk.read(path);
  if (bytes === null) return null;
  try {
    const record = JSON.parse(bytes.toString('utf8')) as Partial<LocalRecord> | null;
    const { version, sha256: of, mode, uid, gid, ours } = record ?? {};
    const sound =
      version === 1 &&
      typeof of === 'string' &&
      [mode, uid, gid].every((value) => Number.isSafeInteger(value)) &&
      Array.isArray(ours) &&
      ours.every((known) => typeof known === 'string');
    return sound ? (record as LocalRecord) : null;
  } catch {
    return null;
  }
}

const STALLED = { disposition: { kind: 'stalled', until: 'operator' } } as const;

function noLocalConfig(path: string): GitopsError<'INSTALL_NO_LOCAL_CONFIG'> {
  return new GitopsError(
    'INSTALL_NO_LOCAL_CONFIG',
    `the kubelet's own config is not to be found: ${path} is missing or ours, and its copy is missing or damaged. ` +
      'Is KUBELET_CONFIG_FILE what the kubelet’s --config says? Otherwise provision the file anew',
    STALLED,
  );
}

function notAFile(path: string): GitopsError<'INSTALL_NOT_A_FILE'> {
  return new GitopsError(
    'INSTALL_NOT_A_FILE',
    `${path} is no plain file, and a link would be replaced by a file: set KUBELET_CONFIG_FILE to where the file really is`,
    STALLED,
  );
}
