import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner } from '../ports/disk.ts';
import { isMarked, renderManaged } from './install-marker.ts';
import { createLocalStore, type LocalRecord, type LocalStore, sha256 } from '../host/local-record.ts';

/** What the node was provisioned with, told apart from what we put into the same file. */
export interface LocalConfig {
  /** The local config's exact bytes; null where the node has none (a kubelet that lives on flags). */
  readonly bytes: Buffer | null;
  readonly owner: Required<FileOwner>;
  /**
   * What the kubelet's config file holds now. `link`: the local config, in a file that is somewhere else. `edited`: what
   * was ours, until somebody changed it by hand.
   */
  readonly file: 'local' | 'link' | 'ours' | 'edited' | 'damaged' | 'missing';
  /** It is in its place, and is another one than was put aside: the node was provisioned anew. */
  readonly isNew: boolean;
}

/** Keeps the local config safe while the kubelet's config file is ours. */
export interface LocalConfigKeeper {
  /** Reads only. @throws GitopsError `INSTALL_NO_LOCAL_CONFIG` */
  read(): Promise<LocalConfig>;
  /**
   * To be called before `bytes` go into the config file: puts the local config aside, and remembers the bytes as ours, so
   * that a crash right after leaves nobody in doubt. Safe to repeat.
   */
  beforeWriting(local: LocalConfig, bytes: Buffer): Promise<void>;
  /** The same for bytes that somebody else may write there in our place. */
  remember(local: LocalConfig, bytes: Buffer): Promise<void>;
}

/** Two would do, the one before and the one about to be written; more cost nothing. */
const MOST_REMEMBERED = 8;

const PLAIN_OWNER = { mode: 0o644, uid: 0, gid: 0 };

export function createLocalConfigKeeper(disk: Disk, stateDirectory: string, configFile: string): LocalConfigKeeper {
  const store = createLocalStore(disk, stateDirectory);
  return {
    async read() {
      const stat = await disk.stat(configFile);
      const present = stat === null ? null : await disk.read(configFile);
      // We never made a link, so what it leads to is the node's own.
      if (present !== null && stat?.kind === 'other') return ownConfig(present, PLAIN_OWNER, 'link');
      const saved = await readSaved(store, configFile);
      if (present === null || stat === null) {
        if (saved === 'lost') throw lostLocalConfig(configFile);
        return { bytes: saved?.bytes ?? null, owner: saved?.owner ?? PLAIN_OWNER, file: 'missing', isNew: false };
      }
      const owner = { mode: stat.mode, uid: stat.uid, gid: stat.gid };
      const isOurs = saved !== null && (await isOneOfOurs(present, store, configFile));
      if (saved === null || saved === 'lost') {
        // The line says that there was a local config once.
        if (isOurs || isMarked(present)) throw lostLocalConfig(configFile);
        return ownConfig(present, owner, 'local', saved === 'lost');
      }
      const instead = (file: 'ours' | 'edited' | 'damaged'): LocalConfig => ({
        bytes: saved.bytes,
        owner: saved.owner ?? owner,
        file,
        isNew: false,
      });
      if (isOurs) return instead('ours');
      if (saved.bytes.equals(present)) return ownConfig(present, owner, 'local');
      if (isMarked(present)) return instead('edited');
      // Neither ours nor what was put aside: somebody provisioned the node anew, and that is its local config from now
      // on. Unless it is no config at all; then the one that was put aside is better.
      const isConfig = decodeKubeletConfig(present, configFile).value !== undefined;
      return isConfig ? ownConfig(present, owner, 'local', true) : instead('damaged');
    },

    async beforeWriting(local, written) {
      const { file } = local;
      if (file === 'damaged' || file === 'edited') {
        await store.setAside((await disk.read(configFile)) ?? Buffer.alloc(0), file);
      }
      await remember(local, written);
    },
    remember,
  };

  async function remember({ bytes, owner, file }: LocalConfig, written: Buffer): Promise<void> {
    if (bytes === null) return;
    const present = file === 'ours' ? [sha256((await disk.read(configFile)) ?? Buffer.alloc(0))] : [];
    const before = await store.record();
    const all = [...(before?.ours ?? []), ...present, sha256(written)];
    // The local config itself may be written back: those bytes are not ours.
    const ours = all.filter((known, index) => all.lastIndexOf(known) === index && known !== sha256(bytes));
    const record: LocalRecord = { sha256: sha256(bytes), owner, ours: ours.slice(-MOST_REMEMBERED) };
    if (isDeepStrictEqual(before, record) && (await store.copy())?.equals(bytes) === true) return;
    await store.save(record, bytes);
  }
}

const ownConfig = (bytes: Buffer, owner: Required<FileOwner>, file: 'local' | 'link', isNew = false): LocalConfig => ({
  bytes,
  owner,
  file,
  isNew,
});

interface Saved {
  readonly bytes: Buffer;
  /** null where the record is gone. */
  readonly owner: Required<FileOwner> | null;
}

/** `lost`: there was a local config, and its copy is gone or damaged. null: none was ever put aside. */
async function readSaved(store: LocalStore, configFile: string): Promise<Saved | 'lost' | null> {
  const [record, copy] = [await store.record(), await store.copy()];
  if (record === null) {
    // Without its record, a copy that can be read is worth more than none.
    const isConfig = copy !== null && decodeKubeletConfig(copy, configFile).value !== undefined;
    return isConfig ? { bytes: copy, owner: null } : null;
  }
  return copy !== null && sha256(copy) === record.sha256 ? { bytes: copy, owner: record.owner } : 'lost';
}

/** By the record; without one, by the form of what only programs write, with a copy of the local config beside it. */
async function isOneOfOurs(present: Buffer, store: LocalStore, configFile: string): Promise<boolean> {
  const record = await store.record();
  if (record !== null) return record.ours.includes(sha256(present));
  const copy = await store.copy();
  const { value } = decodeKubeletConfig(present, configFile);
  if (value === undefined || copy?.equals(present) === true) return false;
  return renderManaged(value).equals(present) || canonicalize(value) === present.toString('utf8');
}

const STALLED = { disposition: { kind: 'stalled', until: 'operator' } } as const;

function lostLocalConfig(path: string): GitopsError<'INSTALL_NO_LOCAL_CONFIG'> {
  return new GitopsError(
    'INSTALL_NO_LOCAL_CONFIG',
    `the node's own kubelet config is lost: ${path} is missing or ours, and the copy of the original is damaged. ` +
      'Provision the file anew, from another node of its kind for example',
    STALLED,
  );
}
