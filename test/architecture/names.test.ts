import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { importsOf, sourceFiles } from './support/import-graph.ts';

/** What a build or a test runner puts in another module's place, and what a command loads by its address. */
const STANDS_IN = /^(?:scripts\/shims\/|test\/mutants\/(?:collected|runner)\.ts$|sandbox\/demo\/main\.ts$)/;
/** The text of modules stands in it. */
const WRITES_MODULES = 'scripts/generate/expected-installation.ts';
const VALUE = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

describe('an exported name', () => {
  it('is imported, if it is a value: what no other file reads is not exported', () => {
    const files = ['agent', 'bench', 'cli', 'reconciler', 'sandbox', 'scripts', 'shared', 'test']
      .flatMap(sourceFiles)
      .filter((file) => file !== WRITES_MODULES);
    const read = new Set<string>();
    for (const { to, names } of importsOf(files)) {
      for (const name of names) read.add(`${name.replace(/ as .*/, '')} in ${to}`);
      // A lazy import, or one of everything.
      if (names.length === 0) read.add(`* in ${to}`);
    }
    const unread = files
      .filter((file) => !STANDS_IN.test(file) && !file.endsWith('.test.ts') && !read.has(`* in ${file}`))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(VALUE)].map(([, name = '']) => `${name} in ${file}`))
      .filter((name) => !read.has(name));
    assert.deepEqual(unread, []);
  });
});
