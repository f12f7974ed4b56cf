import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { API_SCENARIOS } from './api.ts';
import { scenarios as assigning } from './assigning.test.ts';
import { scenarios as calm } from './calm.test.ts';
import { scenarios as files } from './files.test.ts';
import { scenarios as fleet } from './fleet.test.ts';
import { scenarios as graduation } from './graduation.test.ts';
import { scenarios as harm } from './harm.test.ts';
import { scenarios as hash } from './hash.test.ts';
import { LEFT_OUT } from './left-out.ts';
import { scenarios as loading } from './loading.test.ts';
import { scenarios as payload } from './payload.test.ts';
import { scenarios as source } from './source.test.ts';
import { scenarios as store } from './store.test.ts';
import { scenarios as validation } from './validation.test.ts';

const LAST = 197;
/** From here on they are what the original should have been tried for. None of them may be without meaning. */
const FIRST_OF_OURS = 179;

const tried: readonly { readonly dkc: number; readonly title: string }[] = [
  ...graduation,
  ...payload,
  ...source,
  ...store,
  ...files,
  ...loading,
  ...validation,
  ...API_SCENARIOS,
  ...hash,
  ...assigning,
  ...harm,
  ...calm,
  ...fleet,
];

describe('what Dynamic Kubelet Configuration was tried for', () => {
  const numbers = tried.map(({ dkc }) => dkc);
  const leftOut = LEFT_OUT.flatMap(({ dkc }) => dkc);

  it(`is all here, each number from 1 to ${LAST} once: as a scenario, or with the reason why not`, (t) => {
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

  it('has a sentence of its own for each scenario', () => {
    assert.equal(new Set(tried.map(({ title }) => title)).size, tried.length);
    for (const { title } of tried) assert.doesNotMatch(title, /\bshould\b|\.$/);
  });
});
