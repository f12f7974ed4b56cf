import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LEFT_OUT } from './left-out.ts';
import { SHOWN_BY } from './shown-by.ts';

const LAST = 197;
/** From here on they are what the original should have been tried for. None of them may be without meaning. */
const FIRST_OF_OURS = 179;

describe('what Dynamic Kubelet Configuration was tried for', () => {
  const numbers = SHOWN_BY.flatMap(([dkc]) => dkc);
  const leftOut = LEFT_OUT.flatMap(({ dkc }) => dkc);

  it(`is all here, each number from 1 to ${LAST} once: by the test that shows it, or with the reason why not`, (t) => {
    const all = [...numbers, ...leftOut].toSorted((one, other) => one - other);
    assert.deepEqual(
      all,
      Array.from({ length: LAST }, (_, index) => index + 1),
    );
    t.diagnostic(`${numbers.length} shown, ${leftOut.length} without meaning here`);
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

  it('is shown by the tests that are named for it', () => {
    for (const [, file, title] of SHOWN_BY) {
      const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
      assert.ok(text.includes(title), `${file}: ${title}`);
    }
  });
});
