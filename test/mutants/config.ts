import type { PartialStrykerOptions } from '@stryker-mutator/api/core';

/** The folders whose mutants are judged. Each is pure, which is what makes a mutant cost milliseconds. */
export const FLOORS: readonly string[] = ['agent/decide', 'reconciler/policy'];

/** Mutants in a hundred that tests have to notice, on each floor. */
export const LEAST_SCORE = 85;

/**
 * The tests that judge: those of the floors, the laws, and the lives that the model once failed.
 *
 * What a test file computes while it is loaded, it computes without the mutant: rows hold what is to be computed, not what came of it.
 */
export const JUDGES: string[] = [
  'test/reconciler/policy/**/*.test.ts',
  'test/agent/decide/**/*.test.ts',
  'test/stories/rollout/**/*.test.ts',
];

/**
 * Parts of the names of tests that do not judge mutants: those that judge tests, and those that must meet everything that can
 * happen, which takes a hundred thousand steps. A row in a table fails before they do, or is missing.
 */
export const LEFT_OUT: readonly string[] = [
  'an invariant of the model',
  'keeps its invariants',
  'never begins more than it may',
  'max-unavailable-never-exceeded.test.ts',
  'autoscaled-pool.test.ts',
  'proof-laws-hold.test.ts',
  'laws-detect-broken-planner.test.ts',
  'laws-detect-broken-planner-autoscaled.test.ts',
  'more nodes than maxUnassign allows that lose their labels',
];

/** Parts of the names of properties that take a second. */
export const SLOW: readonly string[] = [
  'bound how many nodes ever see',
  'never keep a good payload from',
  'reaches everybody with a good payload',
  'that is to be taken back leaves nobody',
  'does not change before the moment that it names',
  'is open if and only if',
  'begins at the minutes of which the wall shows',
  'does the same whether or not somebody sets the wall clock',
];

/** How many runs of a property judge a mutant: most mutants that a thousand would notice fail one of the first. */
export const RUNS = { usual: 50, slow: 3 };

/** The environment variable that chooses the seed of tests: the one that all mutants have met so far. */
export const SEEDS = { PROPERTY_SEED: '1' };

/** Names of properties and constants that carry sentences for people; their values are not mutated. */
export const SENTENCES: readonly string[] = ['because', 'message', 'suggestion', 'why'];

/** Folders with all that the tests of the floors load: StrykerJS mutates a copy of them. */
export const COPIED: readonly string[] = ['agent', 'cli', 'reconciler', 'sandbox', 'shared', 'test'];

/**
 * Options of StrykerJS. What is left out: types (no mutator knows them), sentences for people (text.ts; a test that noticed
 * another word would read words), and strings that are only compared (the comparison itself is mutated).
 */
export const OPTIONS: PartialStrykerOptions = {
  testRunner: 'in-process',
  plugins: [import.meta.resolve('./runner.ts'), import.meta.resolve('./text.ts')],
  ignorers: ['text'],
  coverageAnalysis: 'perTest',
  // What a mutant may take beyond one and a half times what its tests took. Endless loops end sooner, by counting; and on a busy machine
  // a mutant that is only slow would count as noticed.
  timeoutMS: 300_000,
  dryRunTimeoutMinutes: 60,
  // Ignored by git and by every tool. Below `node_modules` Node would strip no types.
  tempDirName: 'dist/mutants',
  incrementalFile: 'dist/mutants.json',
  ignorePatterns: ['**', ...COPIED.map((folder) => `!${folder}/**`), '!package.json'],
  disableTypeChecks: false,
  allowConsoleColors: false,
  reporters: ['progress-append-only'],
};
