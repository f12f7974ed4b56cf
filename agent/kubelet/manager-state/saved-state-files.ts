import { join } from 'node:path';
import { asRecord, checkStamp, parseRaw, type Raw, stampOf, textIn } from '../../host/record-shape.ts';
import type { Disk, FileOwner } from '../../ports/disk.ts';
import { sha256 } from '../../host/local-record.ts';

/** A state file that made way for a config. */
export interface SavedStateFile {
  /** Of the config that it was written with; undefined where that could not be said. */
  readonly basis: string | undefined;
  readonly bytes: Buffer;
  readonly owner: Required<FileOwner>;
}

/** What was done to one state file since nothing was on trial. */
export interface StateFileTransition {
  /** Basis of the config that is being installed, and of the one before it. */
  readonly to: string;
  readonly from: string | undefined;
  /** Hex SHA-256 of what was left in place; null where that was nothing. Whatever is there instead came later. */
  readonly left: string | null;
  readonly aside: readonly SavedStateFile[];
}

/** The directory `manager-state/` of the state directory: for each state file one file of its name, JSON, versioned. */
interface SavedStateFileStore {
  /** null where nothing was done, or what was done is lost. */
  read(file: string): Promise<StateFileTransition | null>;
  save(file: string, transition: StateFileTransition): Promise<void>;
  /** Keeps what no kubelet can read, for people. It is never put back. */
  keepDamaged(file: string, bytes: Buffer): Promise<void>;
  forget(): Promise<void>;
}

const ROOT_ONLY: FileOwner = { mode: 0o600 };
/** The first ones are those that the way back needs: what comes on top is of trials that were superseded. */
const MOST_ASIDE = 8;

export function createSavedStateFileStore(disk: Disk, stateDirectory: string, node: string): SavedStateFileStore {
  const directory = join(stateDirectory, 'manager-state');
  const write = async (name: string, bytes: Buffer): Promise<void> => {
    const path = join(directory, name);
    if ((await disk.stat(directory))?.kind === 'file') await disk.remove(directory);
    await disk.makeDirectory(directory, 0o700);
    if ((await disk.stat(path))?.kind === 'directory') await disk.remove(path);
    await disk.replace(path, bytes, ROOT_ONLY);
  };
  return {
    async read(file) {
      const path = join(directory, file);
      // Whatever lies there instead of a file is as good as nothing.
      const bytes = (await disk.stat(path))?.kind === 'file' ? await disk.read(path) : null;
      return bytes === null ? null : decode(bytes.toString('utf8'), node);
    },
    save: (file, transition) => write(file, encode(transition, node)),
    keepDamaged: (file, bytes) => write(`${file}.damaged`, bytes),
    forget: () => disk.remove(directory),
  };
}

/** The states as text, for manual recovery. */
function encode({ to, from, left, aside }: StateFileTransition, node: string): Buffer {
  const states = aside
    .slice(0, MOST_ASIDE)
    .map(({ basis, bytes, owner }) => ({ basis, owner, state: bytes.toString('utf8') }));
  return Buffer.from(`${JSON.stringify({ ...stampOf(node), to, from, left, aside: states }, null, 2)}\n`);
}

function decode(text: string, node: string): StateFileTransition | null {
  try {
    const raw = checkStamp(parseRaw(text), node);
    const { left, aside } = raw;
    const isSound = (left === null || typeof left === 'string') && Array.isArray(aside);
    return isSound ? { to: textIn(raw, 'to'), ...fromIn(raw), left, aside: aside.map(asideIn) } : null;
  } catch {
    return null;
  }
}

function asideIn(value: unknown): SavedStateFile {
  const raw = asRecord(value, 'a state file that was put aside');
  const { mode, uid, gid } = asRecord(raw['owner'], 'its owner') as Partial<Required<FileOwner>>;
  if (![mode, uid, gid].every((part) => Number.isSafeInteger(part))) throw new TypeError('no owner');
  const owner = { mode, uid, gid } as Required<FileOwner>;
  return { basis: basisIn(raw['basis']), owner, bytes: Buffer.from(textIn(raw, 'state'), 'utf8') };
}

const fromIn = (raw: Raw): { readonly from: string | undefined } => ({ from: basisIn(raw['from']) });
const basisIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const digestOf = (bytes: Buffer | null): string | null => (bytes === null ? null : sha256(bytes));
