import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { FLOORS, LEAST_SCORE, OPTIONS } from './config.ts';
import { SURVIVORS } from './survivors.ts';
import { mutatedBy } from './parts.ts';
import { judge, type Mutant, percentOf } from './verdict.ts';

/**
 * Changes the pure floors in thousands of small ways and asks their tests to notice: `npm run mutants`, or, for some folders or
 * files, `npm run mutants -- reconciler/policy/rollout agent/decide/health-verdict.ts`. `--incremental` judges only what changed since the
 * run before, as far as the mutated files and the test files themselves tell; `--concurrency 2` takes another core.
 */
const { values, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    incremental: { type: 'boolean', default: false },
    concurrency: { type: 'string', default: '1' },
  },
});

const began = performance.now();
const results = await new Stryker({
  ...OPTIONS,
  mutate: mutatedBy(parts, FLOORS),
  incremental: values.incremental,
  concurrency: Number(values.concurrency),
}).runMutationTest();

const mutants = results.map(({ fileName, status, location: { start, end }, replacement }): Mutant => ({
  file: relative(process.cwd(), fileName),
  status,
  start,
  end,
  replacement,
}));
const folders = [...new Set(mutants.map(({ file }) => dirname(file)))].filter((folder) => !FLOORS.includes(folder));
const sourceOf = (file: string): string => readFileSync(file, 'utf8');
const { scores, unexplained, stale } = judge(mutants, [...FLOORS, ...folders.toSorted()], SURVIVORS, sourceOf);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
for (const { file, line, within, mutant } of unexplained) say(`survived: ${file}:${line} ${within}: ${mutant}`);
for (const entry of stale) say(`explained in test/mutants/survivors.ts, but noticed or gone: ${entry}`);
let isLow = false;
for (const [floor, score] of scores) {
  if (score.mutants === 0) continue;
  isLow ||= parts.length === 0 && FLOORS.includes(floor) && percentOf(score) < LEAST_SCORE;
  say(`${floor}: ${score.noticed} of ${score.mutants} mutants noticed, ${percentOf(score).toFixed(1)} %`);
}
const alone = results.filter(({ static: isStatic, status }) => isStatic === true && status !== 'Ignored').length;
say(`${alone} mutants took a process of their own, as files that are loaded compute something with them`);
say(`${Math.round((performance.now() - began) / 1000)} s`);
if (isLow) say(`fewer than ${LEAST_SCORE} % are noticed on a floor`);
if (mutants.length === 0) say(`there is nothing to change in ${parts.join(', ')}`);
if (isLow || mutants.length === 0 || unexplained.length > 0 || stale.length > 0) process.exitCode = 1;
