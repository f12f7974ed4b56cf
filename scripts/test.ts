import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { inProcesses } from './test-processes.ts';

/**
 * Runs test files: `node scripts/test.ts [--every-point] PATTERN...`. With `--every-point` it runs only those that usually try a
 * sample (`test/support/sample.ts`), each in a process of its own, and has them try everything.
 */
const [first, ...others] = process.argv.slice(2);
const everyPoint = first === '--every-point';
const patterns = everyPoint || first === undefined ? others : [first, ...others];
const cache = join(import.meta.dirname, '../node_modules/.cache');

const samples = (file: string): boolean => readFileSync(file, 'utf8').includes("/support/sample.ts'");

function filesOf(pattern: string): readonly string[] {
  const found = globSync(pattern).filter((file) => !everyPoint || samples(file));
  if (found.length === 0) throw new Error(`no test is found by ${pattern}`);
  return found;
}

/** A file that does nothing but import these: to the test runner, all of their tests are its own. */
function importing(name: string, files: readonly string[]): string {
  const directory = join(cache, 'tests-together');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, files.map((file) => `import '${pathToFileURL(resolve(file)).href}';\n`).join(''));
  return path;
}

const found = [...new Set(patterns.flatMap(filesOf))].toSorted();
rmSync(join(cache, 'tests-together'), { recursive: true, force: true });
const processes = everyPoint ? found.map((file) => ({ name: file, files: [file] })) : inProcesses(found);
const files = processes.map(({ name, files: [one = '', ...more] }) =>
  more.length === 0 ? one : importing(name, [one, ...more]),
);

if (everyPoint) process.env['EVERY_POINT'] = '1';
// Most of what a small file of tests costs is to compile what it imports, and many processes import the same.
process.env['NODE_COMPILE_CACHE'] ??= join(cache, 'compiled-tests');

// Many tests wait for processes: three files more than there are cores keep all of these busy.
const untracked = new URL('untracked-promises.js', import.meta.url).href;
const results = run({ files, concurrency: availableParallelism() + 3, execArgv: ['--import', untracked] });
results.on('test:summary', ({ file, success }) => {
  // Without a file, it sums up all of them.
  if (file === undefined && !success) process.exitCode = 1;
});
results.compose(spec).pipe(process.stdout);
