import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { FLOORS, LEAST_SCORE, OPTIONS } from './config.ts';
import { SURVIVORS } from './survivors.ts';
import { judge, type Mutant, percentOf } from './verdict.ts';

/**
 * Changes the pure floors in thousands of small ways and asks their tests to notice: `npm run mutants`, or, for a part,
 * `npm run mutants -- --mutate 'agent/decide/judge.ts'`. `--incremental` judges only what changed since the run before, as
 * far as the mutated files and the test files themselves tell; `--concurrency 2` takes another core.
 */
const { values } = parseArgs({
  options: {
    mutate: { type: 'string', multiple: true },
    incremental: { type: 'boolean', default: false },
    concurrency: { type: 'string', default: '1' },
  },
});

const began = performance.now();
const results = await new Stryker({
  ...OPTIONS,
  mutate: values.mutate ?? FLOORS.map((floor) => `${floor}/**/*.ts`),
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
const { scores, unexplained, stale } = judge(mutants, FLOORS, SURVIVORS, (file) => readFileSync(file, 'utf8'));

const say = (line: string): void => void process.stdout.write(`${line}\n`);
for (const { file, line, within, mutant } of unexplained) say(`survived: ${file}:${line} ${within}: ${mutant}`);
for (const entry of stale) say(`explained in test/mutants/survivors.ts, but noticed or gone: ${entry}`);
let isLow = false;
for (const [floor, score] of scores) {
  if (score.mutants === 0) continue;
  isLow ||= values.mutate === undefined && percentOf(score) < LEAST_SCORE;
  say(`${floor}: ${score.noticed} of ${score.mutants} mutants noticed, ${percentOf(score).toFixed(1)} %`);
}
const alone = results.filter(({ static: isStatic, status }) => isStatic === true && status !== 'Ignored').length;
say(`${alone} mutants took a process of their own, as files that are loaded compute something with them`);
say(`${Math.round((performance.now() - began) / 1000)} s`);
if (isLow) say(`fewer than ${LEAST_SCORE} % are noticed on a floor`);
if (isLow || unexplained.length > 0 || stale.length > 0) process.exitCode = 1;
