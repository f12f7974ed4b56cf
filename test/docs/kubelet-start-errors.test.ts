import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startErrors } from './support/start-errors.ts';

const textOf = (pattern: string): string =>
  globSync(pattern)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

const ERRORS = startErrors();

describe('the page about errors at the start of a kubelet', () => {
  it('names only codes that are found there', () => {
    const rules = textOf('shared/contract/kubelet-config/**/*.ts');
    const checks = textOf('agent/preflight/checks/*.ts');
    const missing = ERRORS.flatMap(({ validate, preflight }) => [
      ...validate.filter((code) => !rules.includes(`'${code}'`)),
      ...preflight.filter((code) => !checks.includes(`'${code}'`)),
    ]);
    assert.deepEqual(missing, []);
  });

  it('has every check of preflight that is about the start of a kubelet', () => {
    const refused = [...textOf('agent/preflight/checks/*.ts').matchAll(/refuse\)?\(\s*'([a-z0-9-]+)'/g)];
    const named = new Set(ERRORS.flatMap(({ preflight }) => preflight));
    const others = new Set(refused.map(([, code = '']) => code).filter((code) => !named.has(code)));
    // These kill pods, or make it impossible to judge the kubelet.
    const HARMLESS = ['config-not-read', 'drop-in-shadows', 'flag-shadows', 'health-unseen', 'too-many-pods'];
    assert.deepEqual(
      [...others].toSorted((one, other) => one.localeCompare(other)),
      HARMLESS,
    );
  });

  it('says of each error where it is said, or why nowhere', () => {
    const silent = ERRORS.filter(({ validate, preflight, why }) => [...validate, ...preflight, why].join('') === '');
    assert.deepEqual(silent, []);
    assert.ok(ERRORS.length >= 79);
    assert.equal(new Set(ERRORS.map(({ error }) => error)).size, ERRORS.length);
  });
});
