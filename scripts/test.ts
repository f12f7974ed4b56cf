import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Runs test files: `node scripts/test.ts PATTERN...`. As many at a time as Node does by itself, but never fewer than two: many
 * of them wait for processes, and Node would take one core of two for itself.
 */
const atATime = Math.max(2, availableParallelism() - 1);
const { status } = spawnSync(
  process.execPath,
  ['--test', `--test-concurrency=${atATime}`, '--test-reporter=spec', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
