import { type BigIntStats, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

/** A directory, and whose names in it are worth a look. */
export interface WatchedPlace {
  readonly directory: string;
  readonly hears: (name: string) => boolean;
}

interface WatchFilesPorts {
  readonly clock: Clock;
  /** Numbers in [0, 1), for the delay between two tries. */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Files that are written in a storm are reported this often, and once more when it is over. Also the time that a writer has
 * before the agent looks: kubeadm, like most, empties a file before it fills it, and must not be taken at its half.
 */
const REST_MS: Millis = 300;
/**
 * The kernel drops events when its queue is full (`fs.inotify.max_queued_events`, 16384 by default), and libuv leaves out its
 * word of that. A queue that was full has brought more events than this of one place at least: some may be missing then.
 */
const MANY_EVENTS = 1_000;
/** For what cannot be watched at all, and so that a directory that comes and goes does not eat a CPU. */
const RETRY: BackoffOptions = { firstMs: 100, maxMs: 60_000, jitter: 0.5 };

/**
 * Calls back when a file in one of the places was written, replaced, deleted, or given another owner or mode
 * (inotify(7), whichever container or program did it). Directories are watched, because a file that is replaced by a
 * rename takes a watch of its own with it.
 *
 * Where a directory is missing, the nearest one above it is watched for its coming; when it is there (again), that counts
 * as a change, for whatever went unheard. So no timer runs while there is nothing to do. What cannot be watched is tried
 * again, ever more seldom. Never throws.
 *
 * @returns stops it
 */
export function watchFiles(places: readonly WatchedPlace[], changed: () => void, ports: WatchFilesPorts): () => void {
  const stop = new AbortController();
  const tell = seldom(changed, ports.clock, stop.signal);
  for (const place of places) void followPlace(place, tell, ports, stop.signal);
  return () => stop.abort();
}

async function followPlace(
  place: WatchedPlace,
  changed: () => void,
  { clock, random, log }: WatchFilesPorts,
  signal: AbortSignal,
): Promise<void> {
  const { directory } = place;
  let faults = 0;
  let missed = false;
  while (!signal.aborted) {
    try {
      if (await isThere(directory)) {
        await watchPlace(place, missed, changed, signal);
        changed();
      } else {
        await waitFor(directory, signal);
      }
      faults = 0;
    } catch (error) {
      faults += 1;
      if (faults === 1) log.warn({ directory, reason: reasonOf(error) }, 'changes here are not heard of');
    }
    missed = true;
    await clock.sleep(backoffDelay(Math.max(faults, 1), RETRY, random()), signal);
  }
}

/** Resolves when the directory is not what it was any more. @throws if it cannot be watched */
async function watchPlace(
  { directory, hears }: WatchedPlace,
  missed: boolean,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const found = await stat(directory, { bigint: true });
  const onEvent = (name: string | null): void => {
    if (name === null || hears(name)) changed();
  };
  const ended = watchUntil(directory, onEvent, async () => !(await isStill(directory, found)), signal);
  if (missed) changed();
  await ended;
}

/** Resolves when the directory may be there. @throws where nothing above it can be watched */
async function waitFor(directory: string, signal: AbortSignal): Promise<void> {
  let above = dirname(directory);
  while (!(await isThere(above)) && above !== dirname(above)) above = dirname(above);
  const found = await stat(above, { bigint: true });
  const missing = join(
    above,
    directory
      .slice(above.length)
      .split('/')
      .find((name) => name !== '') ?? '',
  );
  const isOver = async (): Promise<boolean> => (await isThere(missing)) || !(await isStill(above, found));
  await watchUntil(above, () => undefined, isOver, signal, basename(missing));
}

/**
 * Watches a directory until `isOver` says so, which is asked at the beginning, and whenever something happened to the
 * directory itself or to `name` in it, or may have; or until the signal aborts.
 *
 * @param onEvent is called with null where events may have been lost
 */
function watchUntil(
  directory: string,
  onEvent: (name: string | null) => void,
  isOver: () => Promise<boolean>,
  signal: AbortSignal,
  name?: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const watcher = watch(directory, { persistent: false });
    const end = (error?: Error): void => {
      signal.removeEventListener('abort', aborted);
      watcher.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const aborted = (): void => end();
    // What cannot be looked at ends the watch, and no process.
    const check = (): Promise<void> => isOver().then((over) => (over ? end() : undefined), end);
    if (signal.aborted) return end();
    signal.addEventListener('abort', aborted, { once: true });
    watcher.on('error', end);
    let events = 0;
    watcher.on('change', (_, what) => {
      if (signal.aborted) return;
      events += 1;
      const changedName = what === null || events % MANY_EVENTS === 0 ? null : String(what);
      onEvent(changedName);
      if (changedName === null || changedName === basename(directory) || changedName === name) void check();
    });
    // It may have happened just before the watch began.
    void check();
  });
}

const isThere = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
};

async function isStill(directory: string, { dev, ino }: BigIntStats): Promise<boolean> {
  const now = await stat(directory, { bigint: true }).catch(() => null);
  return now !== null && now.dev === dev && now.ino === ino;
}

/** A while after it happened, once for all that came in between. */
function seldom(tell: () => void, clock: Clock, signal: AbortSignal): () => void {
  let resting = false;
  const rest = async (): Promise<void> => {
    await clock.sleep(REST_MS, signal);
    resting = false;
    if (!signal.aborted) tell();
  };
  return () => {
    if (resting || signal.aborted) return;
    resting = true;
    void rest();
  };
}
