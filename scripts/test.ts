import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

/**
 * Runs test files, each in a process of its own: `node scripts/test.ts [--every-point] PATTERN...`. With `--every-point` it
 * runs only those that usually try a sample (`test/support/sample.ts`), and has them try everything.
 */
const [first, ...others] = process.argv.slice(2);
const everyPoint = first === '--every-point';
const patterns = everyPoint || first === undefined ? others : [first, ...others];

/** These wait for whole systems, up to half a minute each. Begun last, one of them would keep one core busy and all others idle. */
const LONG = /^test\/(?:docs\/tutorial|security\/secrets|scenarios\/|reconciler\/git\/)/;

const samples = (file: string): boolean => readFileSync(file, 'utf8').includes("/support/sample.ts'");

function filesOf(pattern: string): readonly string[] {
  const found = globSync(pattern).filter((file) => !everyPoint || samples(file));
  if (found.length === 0) throw new Error(`no test is found by ${pattern}`);
  return found;
}

const sorted = [...new Set(patterns.flatMap(filesOf))].toSorted();
const files = [...sorted.filter((file) => LONG.test(file)), ...sorted.filter((file) => !LONG.test(file))];

if (everyPoint) process.env['EVERY_POINT'] = '1';
// Most of what a small file of tests costs is to compile what it imports, and hundreds of processes import the same.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../node_modules/.cache/compiled-tests');

// Many tests wait for processes: one file more than there are cores keeps all of these busy.
const results = run({ files, concurrency: availableParallelism() + 1 });
results.on('test:summary', ({ file, success }) => {
  // Without a file, it sums up all of them.
  if (file === undefined && !success) process.exitCode = 1;
});
results.compose(spec).pipe(process.stdout);
