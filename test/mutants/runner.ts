import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MutantCoverage, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  type DryRunResult,
  DryRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import fc from 'fast-check';
import { collect, type CollectedTest, collectedTests } from './collected.ts';

/** What instrumented code reads and writes; its shape is StrykerJS's. */
interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: MutantCoverage;
}

const instrumented: Instrumented = ((globalThis as { __stryker__?: Instrumented }).__stryker__ ??= {});

/** What a module keeps for good: after the first test, it would answer with what was computed before a mutant was there. */
const KEPT = /^const (\w+) = (new (?:Weak)?Map<.*>\(\));$/gm;
const KEPT_ONE = /^let (\w+): .* \| undefined;$/gm;
const forget: (() => void)[] = [];

/** Of a test that judges mutants, when it passes. */
const LONGEST_MS = 200;

/**
 * Runs tests of pure functions in this process: loads their files once, and runs the tests of a mutant within milliseconds, where
 * StrykerJS's own runner would start a process for each.
 */
function createRunner(options: StrykerOptions): TestRunner {
  let loaded: Promise<readonly CollectedTest[]> | undefined;
  const all = (): Promise<readonly CollectedTest[]> => (loaded ??= loadAll(process.cwd(), options.testFiles));

  return {
    capabilities: () => ({ reloadEnvironment: false }),

    async dryRun() {
      const tests = await all();
      const result = await run(tests, false);
      const { mutantCoverage } = instrumented;
      return mutantCoverage === undefined ? result : { ...result, mutantCoverage: worthwhile(mutantCoverage) };
    },

    async mutantRun({ testFilter, activeMutant, hitLimit, disableBail }) {
      const tests = await all();
      Object.assign(instrumented, { activeMutant: activeMutant.id, hitLimit });
      instrumented.hitCount = hitLimit === undefined ? undefined : 0;
      try {
        const ids = testFilter === undefined ? undefined : new Set(testFilter);
        const chosen = tests.filter(({ id }) => ids === undefined || ids.has(id));
        return toMutantRunResult(await run(chosen, !disableBail));
      } finally {
        instrumented.activeMutant = undefined;
      }
    },
  };
}
createRunner.inject = tokens(commonTokens.options);

/**
 * Leaves out mutants of what nothing but loading runs; what tests run, too, they judge. And leaves out tests that take long: a row in
 * a table fails before they do.
 */
function worthwhile({ static: whileLoading, perTest }: MutantCoverage): MutantCoverage {
  const quick = Object.entries(perTest).filter(([id]) => (tookMs.get(id) ?? 0) < LONGEST_MS);
  const tested = new Set(Object.values(perTest).flatMap((counts) => Object.keys(counts)));
  return {
    perTest: Object.fromEntries(quick),
    static: Object.fromEntries(Object.entries(whileLoading).filter(([id]) => !tested.has(id))),
  };
}

async function loadAll(root: string, files: readonly string[]): Promise<readonly CollectedTest[]> {
  Error.stackTraceLimit = 0;
  // Most mutants that a thousand runs would notice fail one of the first, and nobody reads the smallest example.
  fc.configureGlobal({ numRuns: 20, endOnFailure: true });
  Object.assign(globalThis, { forget });
  const own = pathToFileURL(`${root}/`).href;
  const collector = import.meta.resolve('./collected.ts');
  registerHooks({
    resolve: (specifier, context, nextResolve) =>
      specifier === 'node:test' && context.parentURL?.startsWith(own) === true
        ? { url: collector, shortCircuit: true, format: 'module-typescript' }
        : nextResolve(specifier, context),
    load(url, context, nextLoad) {
      const module = nextLoad(url, context);
      if (!url.startsWith(own) || !(module.source instanceof Uint8Array)) return module;
      const source = Buffer.from(module.source)
        .toString()
        .replace(KEPT, 'let $1 = $2; forget.push(() => void ($1 = $2));')
        .replace(KEPT_ONE, '$& forget.push(() => void ($1 = undefined));');
      return { ...module, source };
    },
  });
  // Models meet everything that can happen, which takes a hundred thousand steps: rows in a table fail before.
  for (const file of globSync([...files], { cwd: root, exclude: ['**/*.model.test.ts'] }).toSorted()) {
    await collect(file, () => import(pathToFileURL(join(root, file)).href));
  }
  return collectedTests();
}

/** How long each test took last: quick ones go first, for most mutants fail one of them. */
const tookMs = new Map<string, number>();

async function run(tests: readonly CollectedTest[], bail: boolean): Promise<DryRunResult> {
  const results: TestResult[] = [];
  const ordered = bail ? tests.toSorted((a, b) => (tookMs.get(a.id) ?? 0) - (tookMs.get(b.id) ?? 0)) : tests;
  for (const test of ordered) {
    const result = await runOne(test);
    results.push(result);
    if (!bail || !tookMs.has(test.id)) tookMs.set(test.id, result.timeSpentMs);
    const timedOut = determineHitLimitReached(instrumented.hitCount, instrumented.hitLimit);
    if (timedOut !== undefined) return timedOut;
    if (bail && result.status === TestStatus.Failed) break;
  }
  return { status: DryRunStatus.Complete, tests: results };
}

async function runOne({ id, file, body }: CollectedTest): Promise<TestResult> {
  for (const each of forget) each();
  instrumented.currentTestId = id;
  const from = performance.now();
  const named = { id, name: id, fileName: file };
  try {
    await body();
    return { ...named, timeSpentMs: performance.now() - from, status: TestStatus.Success };
  } catch (error) {
    const failureMessage = error instanceof Error ? error.message : String(error);
    return { ...named, timeSpentMs: performance.now() - from, status: TestStatus.Failed, failureMessage };
  } finally {
    instrumented.currentTestId = undefined;
  }
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'in-process', createRunner)];
