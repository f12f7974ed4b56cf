import { dirname, join } from 'node:path';
import type { Disk, FileOwner } from '../ports/disk.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { GuardedFile } from '../ports/guard.ts';
import { dropInText, type GuardPaths, guardSeconds, removedPathOf, secondsIn, stagedPathOf } from './guard-paths.ts';
import { NO_BOOTS, NO_DOUBT, NO_NOTE, NO_STARTS } from './guard-records.ts';
import { decodePlan } from './guard-plan.ts';
import type { GuardSystemd } from './guard-systemd.ts';
import {
  decodePlacedFiles,
  encodePlacedFiles,
  missingParentDirectories,
  removePlacedFiles,
  type PlacedFiles,
} from './placed-files.ts';

export interface ArmOptions {
  readonly disk: Disk;
  readonly systemd: GuardSystemd;
  readonly unit: string;
  readonly paths: GuardPaths;
  readonly script: () => Promise<Buffer>;
  /** The agent's sign of life at this moment. */
  readonly sign: () => Promise<Buffer>;
}

const OURS: FileOwner = { mode: 0o600 };
/** As everything beside it. */
const UNIT_FILE: FileOwner = { mode: 0o644 };

type PutFile = Extract<GuardedFile, { readonly bytes: Buffer }>;

const isPut = (file: GuardedFile): file is PutFile => file.bytes !== null;

/**
 * Puts everything in place that the guard needs, each file durably before the one that leads to it. The plan comes last:
 * without it the guard does nothing, and with it everything is there. The same plan again only fixes what is missing, and
 * keeps the count of starts.
 *
 * @throws GitopsError of the disk, `GUARD_SYSTEMD`, `GUARD_NOT_LOADED`
 */
export async function armGuard(options: ArmOptions, plan: string, restore: readonly GuardedFile[]): Promise<void> {
  const { disk, systemd, unit, paths, script, sign } = options;
  await disk.makeDirectory(paths.directory, 0o700);
  const before = await disk.read(paths.plan).catch(() => null);
  const isSame = before?.toString('utf8') === plan;
  // Another trial with the same way back: the plan before it guards until this one is there.
  const leadsThere = before !== null && decodePlan(before)?.to === decodePlan(Buffer.from(plan))?.to;
  if (!leadsThere) await forget(disk, paths);

  const forgetStale = await stage(disk, paths, restore);
  await ensure(disk, paths.script, await script(), OURS);
  // Somebody may have taken it away.
  if (!isSame || (await disk.stat(paths.boots)) === null) await disk.replace(paths.boots, NO_BOOTS, OURS);
  if (!isSame) await startCounting(disk, paths);
  await disk.replace(paths.alive, await sign(), OURS);
  await ensureDropIn(options, guardSeconds(await systemd.startTimeoutOf(unit)));
  await systemd.daemonReload();
  if (!(await systemd.dropInsOf(unit)).includes(paths.dropIn)) throw notLoaded(unit, paths.dropIn);
  if (!isSame) await disk.replace(paths.plan, Buffer.from(plan), OURS);
  await forgetStale();
}

/** Restores the units of an armed guard that another writer removed. */
export async function keepArmed(options: ArmOptions): Promise<void> {
  const { disk, systemd, unit, paths, script } = options;
  const isMended = await ensure(disk, paths.script, await script(), OURS);
  const there = await disk.read(paths.dropIn).catch(() => null);
  const seconds = secondsIn(String(there), paths.script) ?? guardSeconds(await systemd.startTimeoutOf(unit));
  const isPutBack = await ensureDropIn(options, seconds);
  if (isMended || isPutBack) await systemd.daemonReload();
}

const ensureDropIn = ({ disk, paths }: ArmOptions, seconds: number): Promise<boolean> =>
  ensure(disk, paths.dropIn, Buffer.from(dropInText(paths.script, seconds)), UNIT_FILE);

/** The plan first: it must not be carried out with files of another order. */
async function forget(disk: Disk, { plan, fired, note }: GuardPaths): Promise<void> {
  for (const path of [plan, fired, note]) await disk.remove(path);
}

/** With their full length, so that the guard can write over them on a disk that is full. */
async function startCounting(disk: Disk, { starts, doubt, note }: GuardPaths): Promise<void> {
  await disk.replace(starts, NO_STARTS, OURS);
  await disk.replace(doubt, NO_DOUBT, OURS);
  await disk.replace(note, NO_NOTE, OURS);
}

/**
 * Puts each file to restore beside its place, and a copy into the state directory, which nothing cleans up.
 *
 * @returns takes away what an earlier order laid there and this one does not need
 */
async function stage(disk: Disk, paths: GuardPaths, restore: readonly GuardedFile[]): Promise<() => Promise<void>> {
  const earlier = decodePlacedFiles(await disk.read(paths.traces).catch(() => null));
  const puts = restore.filter(isPut);
  const removed = restore.filter((file) => !isPut(file)).map(({ path }) => removedPathOf(path));
  const staged = [...puts.map(({ path }) => stagedPathOf(path)), ...removed];
  const places = [...puts.map(({ path }) => path), paths.dropIn];
  const missing = await Promise.all(places.map((path) => missingParentDirectories(disk, path)));
  const made = deepestFirst([...earlier.made, ...missing.flat()]);
  const stale = earlier.staged.filter((path) => !staged.includes(path));
  await remember(disk, paths, { staged: [...staged, ...stale], made });
  for (const directory of made.toReversed()) await disk.makeDirectory(directory, 0o755);
  for (const { path, bytes, owner } of puts) {
    const copy = join(paths.copies, path);
    await disk.makeDirectory(dirname(copy), 0o700);
    await ensure(disk, copy, bytes, owner);
    await ensure(disk, stagedPathOf(path), bytes, owner);
  }
  // Of an earlier trial. With it, this one would be taken for half taken back.
  for (const path of removed) await disk.remove(path);
  return async () => {
    await removePlacedFiles(disk, { staged: stale, made: [] });
    await remember(disk, paths, { staged, made });
  };
}

const deepestFirst = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].sort((one, other) => other.length - one.length);

async function remember(disk: Disk, { traces }: GuardPaths, all: PlacedFiles): Promise<void> {
  await ensure(disk, traces, encodePlacedFiles(all), OURS);
}

/** Writes only what differs, owner and mode included. @returns whether it did */
async function ensure(disk: Disk, path: string, bytes: Buffer, owner: FileOwner): Promise<boolean> {
  const there = await disk.stat(path);
  if (there !== null && there.kind !== 'file') await disk.remove(path);
  const isOwned =
    there?.kind === 'file' &&
    there.mode === owner.mode &&
    (owner.uid ?? there.uid) === there.uid &&
    (owner.gid ?? there.gid) === there.gid;
  if (isOwned && (await disk.read(path))?.equals(bytes) === true) return false;
  await disk.replace(path, bytes, owner);
  return true;
}

function notLoaded(unit: string, dropIn: string): GitopsError {
  const message =
    `systemd does not see ${dropIn} as a part of ${unit}, so nothing would take a config back without the agent: mount the ` +
    "host's directory at the same path, or name the right one in KUBELET_UNIT_DIR; GUARD=off does without a guard";
  return new GitopsError('GUARD_NOT_LOADED', message, { disposition: { kind: 'stalled', until: 'operator' } });
}
