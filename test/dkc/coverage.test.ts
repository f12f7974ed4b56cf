import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { API_SCENARIOS } from './api.ts';
import { scenarios as assigning } from './assigning.test.ts';
import { scenarios as calm } from './calm.test.ts';
import { scenarios as fleet } from './fleet.test.ts';
import { scenarios as graduation } from './graduation.test.ts';
import { scenarios as harm } from './harm.test.ts';
import { LEFT_OUT } from './left-out.ts';
import { scenarios as loading } from './loading.test.ts';
import { scenarios as store } from './store.test.ts';
import { TOLD_ELSEWHERE } from './told-elsewhere.ts';
import { scenarios as validation } from './validation.test.ts';

const LAST = 197;
/** From here on they are what the original should have been tried for. None of them may be without meaning. */
const FIRST_OF_OURS = 179;

const tried: readonly { readonly dkc: number; readonly title: string }[] = [
  ...graduation,
  ...store,
  ...loading,
  ...validation,
  ...API_SCENARIOS,
  ...assigning,
  ...harm,
  ...calm,
  ...fleet,
];

describe('what Dynamic Kubelet Configuration was tried for', () => {
  const numbers = [...tried.map(({ dkc }) => dkc), ...TOLD_ELSEWHERE.flatMap(([dkc]) => dkc)];
  const leftOut = LEFT_OUT.flatMap(({ dkc }) => dkc);

  it(`is all here, each number from 1 to ${LAST} once: as a scenario, as a test elsewhere, or with the reason why not`, (t) => {
    const all = [...numbers, ...leftOut].toSorted((one, other) => one - other);
    assert.deepEqual(
      all,
      Array.from({ length: LAST }, (_, index) => index + 1),
    );
    t.diagnostic(`${numbers.length} tried, ${leftOut.length} without meaning here`);
  });

  it('is tried in full where the original was not tried at all', () => {
    assert.deepEqual(
      leftOut.filter((dkc) => dkc >= FIRST_OF_OURS),
      [],
    );
  });

  it('has a reason, and something instead that is tried, for whatever is left out', () => {
    for (const { because, instead } of LEFT_OUT) {
      assert.match(because, /^[A-Z].*\.$/s);
      assert.ok(instead.length > 0);
      for (const dkc of instead) assert.ok(numbers.includes(dkc), String(dkc));
    }
  });

  it('is told by the tests that are named for it', () => {
    for (const [, file, title] of TOLD_ELSEWHERE) {
      const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
      assert.ok(text.includes(title), `${file}: ${title}`);
    }
  });

  it('has a sentence of its own for each scenario', () => {
    assert.equal(new Set(tried.map(({ title }) => title)).size, tried.length);
    for (const { title } of tried) assert.doesNotMatch(title, /\bshould\b|\.$/);
  });
});
