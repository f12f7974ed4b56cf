import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFiles } from '#agent/host/disk/watch-files.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../../../support/until.ts';

/** The longest wait with which something is still heard of at once. */
const SECOND_MS: Millis = 1_000;
/** After which a change that nobody hears of fails a test, on a machine however busy. */
const HANG_MS: Millis = 30_000;

/** A directory of its own on a real disk, with a watch that is set when the test says so. */
export interface WatchedDirectory extends AsyncDisposable {
  readonly root: string;
  readonly directory: string;
  /** The one that the watch hears of. */
  readonly file: string;
  /** How often it was told of a change since it was settled last. */
  readonly calls: () => number;
  /** What the watch is waiting for by the clock at this moment. */
  readonly waits: ReadonlySet<Millis>;
  /** What it waited for by the clock since it was settled last. */
  readonly waited: ReadonlySet<Millis>;
  /** Ends no wait of the clock until what is returned is called. */
  readonly hold: () => () => void;
  readonly watch: () => void;
  /** The watch is set when a change is heard; what one change makes is over when nothing is waited for. */
  readonly settled: () => Promise<void>;
  /** Sets the watch, and waits until it hears. */
  readonly watched: () => Promise<void>;
  /** It is told of a change, and no wait was longer than a second. How long it took says only how busy the machine is. */
  readonly heard: () => Promise<void>;
  readonly stop: () => void;
}

export async function createWatchedDirectory(): Promise<WatchedDirectory> {
  const root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-watch-'));
  const directory = join(root, 'kubelet');
  const file = join(directory, 'config.yaml');
  await mkdir(directory);
  await writeFile(file, 'kind: KubeletConfiguration\n');
  let calls = 0;
  let stop: () => void = () => undefined;
  const waits = new Set<Millis>();
  const waited = new Set<Millis>();
  let held: Promise<void> = Promise.resolve();
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      waits.add(ms);
      waited.add(ms);
      await systemClock.sleep(ms, signal);
      await held;
      waits.delete(ms);
    },
  };
  const watched: WatchedDirectory = {
    root,
    directory,
    file,
    calls: () => calls,
    waits,
    waited,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    watch() {
      const hears = (name: string): boolean => name === 'config.yaml';
      stop = watchFiles([{ directory, hears }], () => (calls += 1), { clock, random: () => 0, log: silentLog });
    },
    async settled() {
      await until('rest', () => waits.size === 0);
      calls = 0;
      waited.clear();
    },
    async watched() {
      watched.watch();
      await until('the watch', async () => (await writeFile(file, 'x'), calls > 0), { everyMs: 5 });
      await watched.settled();
    },
    async heard() {
      await until('word of it', () => calls > 0, { withinMs: HANG_MS });
      assert.ok(Math.max(...waited) <= SECOND_MS, `it waited for ${[...waited].join(', ')} ms`);
    },
    stop: () => stop(),
    async [Symbol.asyncDispose]() {
      stop();
      await rm(root, { recursive: true, force: true });
    },
  };
  return watched;
}
