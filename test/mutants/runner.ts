import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MutantCoverage } from '@stryker-mutator/api/core';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { collect, type CollectedTest, collectedTests } from './collected.ts';
import { SEEDS, JUDGES, LEFT_OUT } from './config.ts';

/** What instrumented code reads and writes; its shape is StrykerJS's. */
interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: MutantCoverage;
}

const instrumented: Instrumented = ((globalThis as { __stryker__?: Instrumented }).__stryker__ ??= {});

/** Instead of what tests import, while they are loaded here. */
const STAND_INS: Readonly<Record<string, string>> = {
  'node:test': import.meta.resolve('./collected.ts'),
  'fast-check': import.meta.resolve('./fewer-runs.ts'),
};

/** What a module keeps for good: after the first test, it would answer with what was computed before a mutant was there. */
const KEPT = /^(const \w+ = )(new (?:Weak)?Map<.*>\(\));$/gm;
const KEPT_ONE = /^let (\w+): .* \| undefined;$/gm;
const kept: Clearable[] = [];

interface Clearable {
  clear(): void;
}

function keptForGood(what: Clearable | WeakMap<WeakKey, unknown>): Clearable {
  const clearable = 'clear' in what ? what : forgetful();
  kept.push(clearable);
  return clearable;
}

type Forgetful = Pick<WeakMap<WeakKey, unknown>, 'get' | 'set'> & Clearable;

/** A WeakMap that can be emptied. */
function forgetful(): Forgetful {
  let map = new WeakMap<WeakKey, unknown>();
  return {
    get: (key) => map.get(key),
    set: (key, value) => map.set(key, value),
    clear() {
      map = new WeakMap();
    },
  };
}

/**
 * Runs tests of pure functions in this process: loads their files once, and runs the tests of a mutant within milliseconds. What
 * a mutant does while files are loaded needs a process of its own (StrykerJS starts it), as modules are loaded once.
 */
function createRunner(): TestRunner {
  let loaded: Promise<readonly CollectedTest[]> | undefined;
  const all = (): Promise<readonly CollectedTest[]> => (loaded ??= loadAll(process.cwd()));

  return {
    capabilities: () => ({ reloadEnvironment: false }),

    async dryRun() {
      const tests = await all();
      const result = await run(tests, false);
      const { mutantCoverage } = instrumented;
      return mutantCoverage === undefined ? result : { ...result, mutantCoverage: onlyLoading(mutantCoverage) };
    },

    async mutantRun(options: MutantRunOptions) {
      const { testFilter, activeMutant, sandboxFileName, hitLimit, mutantActivation, disableBail } = options;
      const isStatic = mutantActivation === 'static';
      instrumented.activeMutant = isStatic ? activeMutant.id : undefined;
      instrumented.hitCount = hitLimit === undefined ? undefined : 0;
      instrumented.hitLimit = hitLimit;
      try {
        if (isStatic) return toMutantRunResult(await runWhileLoading(process.cwd(), dirname(sandboxFileName)));
        const tests = await all();
        instrumented.activeMutant = activeMutant.id;
        const chosen = testFilter === undefined ? tests : chooseTests(tests, testFilter);
        return toMutantRunResult(await run(chosen, !disableBail));
      } catch (error) {
        // A mutant with which nothing can be loaded would fail every test.
        return toMutantRunResult(complete([failed('the files are loaded', 0, error)]));
      } finally {
        instrumented.activeMutant = undefined;
      }
    },
  };
}

/**
 * Leaves a process of its own to mutants of what nothing but loading runs. What tests run, too, they judge within milliseconds; whatever
 * a test file made of it while it was loaded, they then meet without the mutant.
 */
function onlyLoading({ static: whileLoading, perTest }: MutantCoverage): MutantCoverage {
  const tested = new Set(Object.values(perTest).flatMap((counts) => Object.keys(counts)));
  return { perTest, static: Object.fromEntries(Object.entries(whileLoading).filter(([id]) => !tested.has(id))) };
}

const testFiles = (root: string): readonly string[] => globSync(JUDGES, { cwd: root }).toSorted();

async function loadAll(root: string): Promise<readonly CollectedTest[]> {
  prepare(root);
  for (const file of testFiles(root)) await load(root, file);
  return judging();
}

/** Stops at the first test that fails. The tests beside the mutated file go first: they notice most, and load least. */
async function runWhileLoading(root: string, folder: string): Promise<DryRunResult> {
  prepare(root);
  const beside = `test/${relative(root, folder)}/`;
  const files = testFiles(root);
  const results: TestResult[] = [];
  for (const file of [
    ...files.filter((each) => each.startsWith(beside)),
    ...files.filter((each) => !each.startsWith(beside)),
  ]) {
    await load(root, file);
    const ran = await run(
      judging().filter((test) => test.file === file),
      true,
    );
    if (ran.status !== DryRunStatus.Complete) return ran;
    results.push(...ran.tests);
    if (ran.tests.some(({ status }) => status === TestStatus.Failed)) break;
  }
  return complete(results);
}

const load = (root: string, file: string): Promise<void> =>
  collect(file, () => import(pathToFileURL(join(root, file)).href));

const judging = (): readonly CollectedTest[] =>
  collectedTests().filter(({ id }) => !LEFT_OUT.some((name) => id.includes(name)));

function prepare(root: string): void {
  Error.stackTraceLimit = 0;
  Object.assign(process.env, SEEDS);
  Object.assign(globalThis, { keptForGood });
  const own = pathToFileURL(`${root}/`).href;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const standIn = STAND_INS[specifier];
      return standIn !== undefined && context.parentURL?.startsWith(own) === true && context.parentURL !== standIn
        ? { url: standIn, shortCircuit: true, format: 'module-typescript' }
        : nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      return url.startsWith(own) && loaded.source !== undefined && loaded.source !== null
        ? {
            ...loaded,
            source: Buffer.from(loaded.source as Uint8Array)
              .toString()
              .replace(KEPT, '$1keptForGood($2);')
              .replace(KEPT_ONE, '$& keptForGood({ clear: () => void ($1 = undefined) });'),
          }
        : loaded;
    },
  });
}

function chooseTests(tests: readonly CollectedTest[], ids: readonly string[]): readonly CollectedTest[] {
  const wanted = new Set(ids);
  return tests.filter(({ id }) => wanted.has(id));
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
  return complete(results);
}

async function runOne({ id, file, body }: CollectedTest): Promise<TestResult> {
  for (const map of kept) map.clear();
  instrumented.currentTestId = id;
  const from = performance.now();
  try {
    await body();
    return { id, name: id, fileName: file, timeSpentMs: performance.now() - from, status: TestStatus.Success };
  } catch (error) {
    return { ...failed(id, performance.now() - from, error), fileName: file };
  } finally {
    instrumented.currentTestId = undefined;
  }
}

const complete = (tests: TestResult[]): DryRunResult => ({ status: DryRunStatus.Complete, tests });

const failed = (id: string, timeSpentMs: number, error: unknown): TestResult => ({
  id,
  name: id,
  timeSpentMs,
  status: TestStatus.Failed,
  failureMessage: error instanceof Error ? error.message : String(error),
});

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'in-process', createRunner)];
