import { join } from 'node:path';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import type { Disk } from '../ports/disk.ts';
import { isTemporary } from '../host/disk/node-disk.ts';
import { LOCAL_RECORD } from '../host/local-record.ts';
import { type Doing, INITIAL_STATE, neededConfigs, type Obeyed, type State, type Target } from '../decide/state.ts';
import { decodeDoing } from './doing-codec.ts';
import { ensureDirectories, readFile } from '../host/state-files.ts';
import { createPayloadStore, type PayloadStore } from './payload-store.ts';
import { decodeObeyed } from './obeyed-codec.ts';
import { decodeReference, NO_REFERENCE } from './reference.ts';
import { decodeFailures, type Failures } from './rejected-codec.ts';
import { orderedRecords, type RecordName } from './write-order.ts';
import { type RecordFound, restoreState } from './restore.ts';
import { checkVersion, parseRaw } from '../host/record-shape.ts';

/** The agent's memory on the node's disk: what `State` says, and the payloads that it names. */
export interface CheckpointStore {
  /**
   * The state as it was saved last. Whatever is missing or damaged is made up for; `problems` says what that was, in
   * sentences for people. Never throws.
   *
   * @param at RFC 3339
   */
  load(at: string): Promise<Loaded>;
  /**
   * Writes what differs from what was written last, or is gone since, in an order that leaves a state that makes sense
   * wherever it ends.
   *
   * @throws `GitopsError` where the disk refuses
   */
  save(state: State): Promise<void>;
  readonly payloads: Pick<PayloadStore, 'read' | 'write'>;
  /**
   * Removes the payloads that the state does not name, and what interrupted writes left behind.
   *
   * @param staged fetched for what comes next: the state does not name it yet
   */
  collectGarbage(state: State, staged?: Target): Promise<void>;
}

export interface Loaded {
  readonly state: State;
  readonly problems: readonly string[];
  /**
   * A sentence that names the file which an agent of another version wrote; null where there is none. With such a file there is no
   * state, and neither the node nor the files are touched: that version can still read them.
   */
  readonly unreadable: string | null;
}

const MAX_META_BYTES = 1_000_000;
const META_FILE = { mode: 0o600 };

export function createCheckpointStore(disk: Disk, stateDirectory: string, node: string): CheckpointStore {
  const meta = join(stateDirectory, 'meta');
  const payloads = createPayloadStore(disk, join(stateDirectory, 'checkpoints'));
  /** What is on disk as far as this process knows; null for no file. */
  const written = new Map<RecordName, string | null>();
  const unreadable: string[] = [];

  const find = async <T>(
    name: RecordName,
    absent: T,
    decode: (text: string, node: string) => T,
  ): Promise<RecordFound<T>> => {
    try {
      const bytes = await readFile(disk, join(meta, name), MAX_META_BYTES);
      const found = bytes === null ? absent : decode(bytes.toString('utf8'), node);
      written.set(name, bytes === null ? null : bytes.toString('utf8'));
      return { found };
    } catch (error) {
      const reason = reasonOf(error);
      if (codeOf(error) === 'STATE_UNREADABLE') unreadable.push(`${join(meta, name)}: ${reason}`);
      return { damaged: `${join(meta, name)} is unusable and was left aside: ${reason}` };
    }
  };

  /** The installer's own file. Whatever else may be wrong with it is the installer's business. */
  const findLocalRecord = async (): Promise<void> => {
    const path = join(stateDirectory, LOCAL_RECORD);
    try {
      const bytes = await readFile(disk, path, MAX_META_BYTES);
      checkVersion(parseRaw(bytes?.toString('utf8') ?? ''));
    } catch (error) {
      if (codeOf(error) === 'STATE_UNREADABLE') unreadable.push(`${path}: ${reasonOf(error)}`);
    }
  };

  /** Whether a file that was written is still there, as far as its size tells: another writer may have taken it away. */
  const isInPlace = async (path: string, text: string | null): Promise<boolean> => {
    const stat = await disk.stat(path).catch(() => undefined);
    if (stat === undefined) return true;
    if (stat === null) return text === null || text === '';
    return text !== null && stat.kind === 'file' && stat.size === Buffer.byteLength(text);
  };

  const write = async (name: RecordName, text: string | null): Promise<void> => {
    const before = written.get(name);
    const path = join(meta, name);
    // A file that was never there says the same as an empty one.
    const isKnown = before === text || (before === null && text === '');
    if (isKnown && (await isInPlace(path, text))) return;
    written.delete(name);
    if (text === null || (await disk.stat(path))?.kind === 'directory') await disk.remove(path);
    if (text !== null) await disk.replace(path, Buffer.from(text, 'utf8'), META_FILE);
    written.set(name, text);
  };

  return {
    payloads,
    async load(at) {
      const records = {
        assigned: await find('assigned', NO_REFERENCE, decodeReference),
        lastKnownGood: await find('last-known-good', NO_REFERENCE, decodeReference),
        doing: await find<Doing | null>('trial', null, decodeDoing),
        failures: await find<Failures | null>('rejected', null, decodeFailures),
        obeyed: await find<Obeyed | undefined>('order', undefined, decodeObeyed),
      };
      await findLocalRecord();
      if (unreadable[0] !== undefined) return { state: INITIAL_STATE, problems: [], unreadable: unreadable[0] };
      const problems = Object.values(records).flatMap((found) => ('damaged' in found ? [found.damaged] : []));
      return { state: restoreState(records, at), problems, unreadable: null };
    },
    async save(state) {
      if (unreadable[0] !== undefined) throw new GitopsError('STATE_UNREADABLE', unreadable[0]);
      // An operator may make it a link to a disk with more room.
      const isLink = (await disk.stat(stateDirectory))?.kind === 'other';
      await ensureDirectories(disk, ...(isLink ? [] : [stateDirectory]), meta);
      await payloads.writeBack();
      for (const [name, text] of orderedRecords(state, node)) await write(name, text);
    },
    async collectGarbage(state, staged = null) {
      await payloads.keepOnly(neededConfigs(state, staged));
      for (const name of await disk.list(meta)) if (isTemporary(name)) await disk.remove(join(meta, name));
    },
  };
}
