import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

/**
 * Looks for seeds with which a test fails: `npm run hunt -- MINUTES [PATTERN...]`. Runs every file that leaves anything to chance,
 * each time with another seed, until the time is over; `EVERY_POINT=1` makes the runs long ones. Says how to see a failure again.
 */
const [minutes, ...patterns] = process.argv.slice(2);
const end = Date.now() + Number(minutes) * 60_000;
if (!(end > Date.now())) throw new Error('npm run hunt -- MINUTES [PATTERN...]');

// The suites that need nothing but this checkout.
const DEFAULT = 'test/{agent,cli,deploy,reconciler,sandbox,security,shared,stories}/**/*.test.ts';
const files = globSync(patterns.length === 0 ? [DEFAULT] : patterns)
  .filter((file) => /\/support\/(?:property|replayable)\.ts'/.test(readFileSync(file, 'utf8')))
  .toSorted();
if (files.length === 0) throw new Error(`nothing is left to chance in ${patterns.join(' ')}`);

let [runs, failures] = [0, 0];
for (let index = 0; Date.now() < end; index = (index + 1) % files.length) {
  const file = files[index] ?? '';
  const PROPERTY_SEED = String(randomInt(2 ** 31));
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', file], {
    encoding: 'utf8',
    env: { ...process.env, PROPERTY_SEED },
    maxBuffer: 256 * 2 ** 20,
  });
  runs += 1;
  if (status === 0) continue;
  failures += 1;
  process.exitCode = 1;
  const every = process.env['EVERY_POINT'] === '1' ? 'EVERY_POINT=1 ' : '';
  process.stdout.write(stdout.slice(Math.max(0, stdout.indexOf('failing tests:'))));
  process.stdout.write(`TO REPLAY: ${every}PROPERTY_SEED=${PROPERTY_SEED} npx node --test ${file}\n`);
}
process.stdout.write(`${runs} runs of ${files.length} files, ${failures} failed\n`);
