// Loaded into a process with --import: on SIGUSR2 it writes to a file for how long its main thread worked at most without a turn for
// others since the last signal, by its own CPU time and by the clock on the wall, in milliseconds.
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LOOK_EVERY_MS = 5;

if (isMainThread) {
  const workedMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let [worked, wall] = [workedMs(), performance.now()];
  let longest = { workMs: 0, wallMs: 0 };
  setInterval(() => {
    const [nowWorked, now] = [workedMs(), performance.now()];
    longest = { workMs: Math.max(longest.workMs, nowWorked - worked), wallMs: Math.max(longest.wallMs, now - wall) };
    [worked, wall] = [nowWorked, now];
  }, LOOK_EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    const file = process.env.TURNS_FILE;
    writeFileSync(`${file}.part`, JSON.stringify(longest));
    renameSync(`${file}.part`, file);
    longest = { workMs: 0, wallMs: 0 };
  });
}
