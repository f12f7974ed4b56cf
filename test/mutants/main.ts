import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

/**
 * Changes the pure floors in thousands of small ways and asks the tests beside the change to notice: `npm run mutants`, or, for folders
 * or files, `npm run mutants -- reconciler/policy/windows agent/decide/drift.ts`. Fails where fewer are noticed than here, in a hundred:
 * many survivors change nothing that could be seen, so the number is a bound and no list of reasons.
 * Measured: 93 to 98 for three files of agent/decide, 96 for reconciler/policy/disruption; 85 is a common bound for what was not.
 */
const LEAST: Readonly<Record<string, number>> = { 'agent/decide': 90, 'reconciler/policy': 85 };

/** Folders with all that the tests load. */
const LOADED = ['agent', 'cli', 'reconciler', 'sandbox', 'shared', 'test'];

const parts = process.argv.slice(2).map((part) => part.replace(/\/+$/, ''));
for (const part of parts.length === 0 ? Object.keys(LEAST) : parts) {
  const least = Object.entries(LEAST).find(([floor]) => part === floor || part.startsWith(`${floor}/`))?.[1];
  // Nothing would be judged, and all be well.
  if (least === undefined || !existsSync(part)) {
    throw new RangeError(`${part} is nothing in ${Object.keys(LEAST).join(' or ')}`);
  }
  const isFile = part.endsWith('.ts');
  await new Stryker({
    mutate: [isFile ? part : `${part}/**/*.ts`],
    // Strings are mostly sentences for people, or tags that the compiler checks.
    mutator: { excludedMutations: ['StringLiteral'] },
    testRunner: 'in-process',
    plugins: [import.meta.resolve('./runner.ts')],
    testFiles: [`test/${isFile ? dirname(part) : part}/**/*.test.ts`],
    coverageAnalysis: 'perTest',
    // What only loading computes would need a process for each mutant.
    ignoreStatic: true,
    thresholds: { high: 100, low: least, break: least },
    concurrency: 1,
    // Endless loops end sooner, by counting; on a busy machine a mutant that is only slow would count as noticed.
    timeoutMS: 300_000,
    // Ignored by git and by every tool. Below `node_modules` Node would strip no types.
    tempDirName: 'dist/mutants',
    ignorePatterns: ['**', '!package.json', ...LOADED.map((folder) => `!${folder}/**`)],
    disableTypeChecks: false,
    allowConsoleColors: false,
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { reportTests: false, logTests: false },
  }).runMutationTest();
}
