import { isDeepStrictEqual } from 'node:util';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Disk, FileOwner } from '../ports/disk.ts';
import { isMarked, renderManaged } from './install-marker.ts';
import { createLocalRecordStore, type LocalRecord, type LocalRecordStore, sha256 } from '../host/local-record.ts';

/** A config of the node's own. */
export interface OwnConfig {
  readonly bytes: Buffer;
  /** Hex SHA-256. */
  readonly sha256: string;
  readonly owner: Required<FileOwner>;
}

/** The config that the node was provisioned with, apart from what we put into the same file. */
export interface LocalConfig {
  /** The one that was put aside, or that is in its place; null where the node has none (a kubelet that lives on flags). */
  readonly own: OwnConfig | null;
  /**
   * What the kubelet's config file holds now. `link`: the local config, in a file that is somewhere else. `edited`: what
   * was ours, until a person changed it by hand. `newer`: another local config than the one that was put aside.
   */
  readonly file: 'local' | 'link' | 'ours' | 'edited' | 'damaged' | 'missing' | 'newer';
  /** What the node's owner put in the place of `own` since; null for nothing. */
  readonly newer: OwnConfig | null;
}

/** Keeps the local config safe while the kubelet's config file is ours. */
interface LocalConfigStore {
  /** Reads only. @throws GitopsError `INSTALL_LOCAL_LOST` */
  read(): Promise<LocalConfig>;
  /** Any of the local configs that are kept; null where that one is not. */
  find(local: LocalConfig, digest: string): Promise<OwnConfig | null>;
  /**
   * To be called before `bytes` go into the config file: puts the local config aside, and remembers the bytes as ours, so
   * that a crash right after leaves no doubt. Safe to repeat.
   */
  beforeWriting(local: LocalConfig, bytes: Buffer): Promise<void>;
  /** The same for bytes that the guard may write there in our place. */
  remember(local: LocalConfig, bytes: Buffer): Promise<void>;
  /** Makes a config that is kept the one that the way back to local leads to. Safe to repeat. */
  adopt(local: LocalConfig, own: OwnConfig): Promise<void>;
  /** Writes again what this process knows of it and found lost. */
  writeBack(): Promise<void>;
  /** Forgets all but `own`, `newer` and these. */
  keepOnly(local: LocalConfig, digests: readonly string[]): Promise<void>;
}

/** Two would do, the one before and the one about to be written; more cost nothing. */
const MOST_REMEMBERED = 8;

const PLAIN_OWNER = { mode: 0o644, uid: 0, gid: 0 };

export function createLocalConfigStore(
  disk: Disk,
  stateDirectory: string,
  configFile: string,
  node: string,
): LocalConfigStore {
  const store = createLocalRecordStore(disk, stateDirectory);
  const find: LocalConfigStore['find'] = async ({ own, newer }, digest) => {
    const known = [own, newer].find((each) => each?.sha256 === digest);
    if (known !== undefined) return known;
    const bytes = await store.other(digest);
    return bytes === null ? null : ownConfig(bytes, own?.owner ?? PLAIN_OWNER);
  };
  return {
    find,
    writeBack: () => store.writeBack(),
    async read() {
      const stat = await disk.stat(configFile);
      const present = stat === null ? null : await disk.read(configFile);
      // We never made a link, so what it leads to is the node's own.
      if (present !== null && stat?.kind === 'other') {
        return { own: ownConfig(present, PLAIN_OWNER), file: 'link', newer: null };
      }
      const saved = await readSaved(store, configFile, node);
      if (present === null || stat === null) {
        if (saved === 'lost') throw lostLocalConfig(configFile);
        return { own: saved && ownConfig(saved.bytes, saved.owner ?? PLAIN_OWNER), file: 'missing', newer: null };
      }
      const owner = { mode: stat.mode, uid: stat.uid, gid: stat.gid };
      const isOurs = saved !== null && (await isOneOfOurs(present, store, configFile));
      if (saved === null || saved === 'lost') {
        // The line says that there was a local config once.
        if (isOurs || isMarked(present)) throw lostLocalConfig(configFile);
        return { own: ownConfig(present, owner), file: 'local', newer: null };
      }
      const own = ownConfig(saved.bytes, saved.owner ?? owner);
      const newer = await readNewer(store, own);
      if (isOurs) return { own, file: 'ours', newer };
      if (saved.bytes.equals(present)) return { own: ownConfig(present, owner), file: 'local', newer };
      if (isMarked(present)) return { own, file: 'edited', newer };
      // Neither ours nor what was put aside: the node's owner wrote another config. If that is not a config, the one that
      // was put aside is better.
      const isConfig = decodeKubeletConfig(present, configFile).value !== undefined;
      return isConfig ? { own, file: 'newer', newer: ownConfig(present, owner) } : { own, file: 'damaged', newer };
    },

    async beforeWriting(local, written) {
      const { file, newer } = local;
      if (file === 'damaged' || file === 'edited') {
        await store.setAside((await disk.read(configFile)) ?? Buffer.alloc(0), file);
      }
      if (newer !== null) await store.keepOther(newer.bytes);
      // A person who put the local config itself back wants no other one any more.
      await remember(file === 'local' ? { ...local, newer: null } : local, written);
    },
    remember,
    async adopt(local, own) {
      const before = await store.record();
      if (local.own === null || before === null || before.sha256 === own.sha256) return;
      // A crash between the copy and its record leaves both configs to be found.
      for (const each of [local.own, own]) await store.keepOther(each.bytes);
      const ours = before.ours.filter((digest) => digest !== own.sha256);
      await store.save({ node, sha256: own.sha256, owner: own.owner, ours, ...newerOf(own, local.newer) }, own.bytes);
    },
    async keepOnly({ own, newer }, digests) {
      await store.keepOthersOnly([...digests, ...[own, newer].flatMap((each) => each?.sha256 ?? [])]);
    },
  };

  async function remember({ own, file, newer }: LocalConfig, written: Buffer): Promise<void> {
    if (own === null) return;
    const present = file === 'ours' ? [sha256((await disk.read(configFile)) ?? Buffer.alloc(0))] : [];
    const before = await store.record();
    const all = [...(before?.ours ?? []), ...present, sha256(written)];
    // The local config itself may be written back: those bytes are not ours.
    const ours = all.filter((known, index) => all.lastIndexOf(known) === index && known !== own.sha256);
    const record: LocalRecord = {
      node,
      sha256: own.sha256,
      owner: own.owner,
      ours: ours.slice(-MOST_REMEMBERED),
      ...newerOf(own, newer),
    };
    if (isDeepStrictEqual(before, record) && (await store.copy())?.equals(own.bytes) === true) return;
    await store.save(record, own.bytes);
  }
}

const ownConfig = (bytes: Buffer, owner: Required<FileOwner>): OwnConfig => ({ bytes, sha256: sha256(bytes), owner });

const newerOf = (own: OwnConfig, newer: OwnConfig | null): Pick<LocalRecord, 'newer'> =>
  newer === null || newer.sha256 === own.sha256 ? {} : { newer: { sha256: newer.sha256, owner: newer.owner } };

/** Also null where its copy is lost. */
async function readNewer(store: LocalRecordStore, own: OwnConfig): Promise<OwnConfig | null> {
  const newer = (await store.record())?.newer;
  if (newer === undefined || newer.sha256 === own.sha256) return null;
  const bytes = await store.other(newer.sha256);
  return bytes === null ? null : ownConfig(bytes, newer.owner);
}

interface Saved {
  readonly bytes: Buffer;
  /** null where the record is gone. */
  readonly owner: Required<FileOwner> | null;
}

/**
 * `lost`: there was a local config, and its copy is gone, damaged, or that of another node. null: none was ever put aside.
 */
async function readSaved(store: LocalRecordStore, configFile: string, node: string): Promise<Saved | 'lost' | null> {
  const [record, copy] = [await store.record(), await store.copy()];
  if (record === null) {
    // Without its record, a copy that can be read is worth more than none.
    const isConfig = copy !== null && decodeKubeletConfig(copy, configFile).value !== undefined;
    return isConfig ? { bytes: copy, owner: null } : null;
  }
  if (record.node !== node) return 'lost';
  const bytes = copy !== null && sha256(copy) === record.sha256 ? copy : await store.other(record.sha256);
  return bytes === null ? 'lost' : { bytes, owner: record.owner };
}

/** By the record; without one, by the form of what only programs write, with a copy of the local config beside it. */
async function isOneOfOurs(present: Buffer, store: LocalRecordStore, configFile: string): Promise<boolean> {
  const record = await store.record();
  if (record !== null) return record.ours.includes(sha256(present));
  const copy = await store.copy();
  const { value } = decodeKubeletConfig(present, configFile);
  if (value === undefined || copy?.equals(present) === true) return false;
  return renderManaged(value).equals(present) || canonicalize(value) === present.toString('utf8');
}

/** Not for good: once the file is provisioned again, the config that was assigned meanwhile can be installed. */
function lostLocalConfig(path: string): GitopsError<'INSTALL_LOCAL_LOST'> {
  return new GitopsError(
    'INSTALL_LOCAL_LOST',
    `the node's own kubelet config is lost: ${path} is missing or ours, and the copy of the original is damaged, or was made on another node. ` +
      'Provision the file again, from another node of its kind for example',
  );
}
