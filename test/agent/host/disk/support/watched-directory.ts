import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFiles } from '#agent/host/disk/watch-files.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../../../support/until.ts';

export const SECOND = { withinMs: 1000, everyMs: 5 };

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
  readonly watch: () => void;
  /** The watch is set when a change is heard; what one change makes is over when nothing is waited for. */
  readonly settled: () => Promise<void>;
  /** Sets the watch, and waits until it hears. */
  readonly watched: () => Promise<void>;
  readonly heard: () => Promise<boolean>;
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
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      waits.add(ms);
      await systemClock.sleep(ms, signal);
      waits.delete(ms);
    },
  };
  const watched: WatchedDirectory = {
    root,
    directory,
    file,
    calls: () => calls,
    waits,
    watch() {
      const hears = (name: string): boolean => name === 'config.yaml';
      stop = watchFiles([{ directory, hears }], () => (calls += 1), { clock, random: () => 0, log: silentLog });
    },
    async settled() {
      await until('rest', async () => waits.size === 0, SECOND);
      calls = 0;
    },
    async watched() {
      watched.watch();
      await until('the watch', async () => (await writeFile(file, 'x'), calls > 0), SECOND);
      await watched.settled();
    },
    heard: () => until('word of it', async () => calls > 0, SECOND),
    stop: () => stop(),
    async [Symbol.asyncDispose]() {
      stop();
      await rm(root, { recursive: true, force: true });
    },
  };
  return watched;
}
