import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { sourceFiles } from './support/import-graph.ts';

const EXPORT = /^export (?:async )?(?:type|interface|function\*?|const|class) (\w+)/gm;

describe('an exported name', () => {
  it('has one meaning in the product: it is exported by one file', () => {
    const files = ['agent', 'cli', 'reconciler', 'shared'].flatMap(sourceFiles);
    const exported = files.flatMap((file) =>
      // Overloads of a function are one name.
      [...new Set([...readFileSync(file, 'utf8').matchAll(EXPORT)].map(([, name = '']) => name))].map((name) => ({
        name,
        file,
      })),
    );
    assert.ok(exported.length > 1500, 'the exports were not found');
    const twice = [...Map.groupBy(exported, ({ name }) => name).values()].filter(({ length }) => length > 1);
    assert.deepEqual(
      twice.map((same) => same.map(({ name, file }) => `${name} in ${file}`)),
      [],
    );
  });
});
