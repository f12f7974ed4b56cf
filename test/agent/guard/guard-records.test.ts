import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCounting, NO_NOTE, NO_STARTS, readGuardNote } from '#agent/guard/guard-records.ts';

describe('the note of the guard', () => {
  it('is read as it was written', () => {
    assert.deepEqual(readGuardNote(Buffer.from('starts            4 yes 2026-11-21T05:51:55Z\n')), {
      cause: 'starts',
      starts: 4,
      restarted: true,
      at: '2026-11-21T05:51:55Z',
    });
  });

  it('says as much as can be read of it', () => {
    const nothing = { cause: 'unknown', starts: 0, restarted: false, at: undefined };
    for (const text of ['', '\n', NO_NOTE.toString(), 'tired x no yesterday\n', 'tired 1234567890 no -\n']) {
      assert.deepEqual(readGuardNote(Buffer.from(text)), nothing, text);
    }
    assert.deepEqual(readGuardNote(null), nothing);
    assert.deepEqual(readGuardNote(Buffer.from('down 2\n')), { ...nothing, cause: 'down', starts: 2 });
    assert.equal(readGuardNote(Buffer.from('boots 2 yes -\n')).cause, 'boots');
    assert.deepEqual(readGuardNote(Buffer.from('silence 999999999 no -\n')), {
      ...nothing,
      cause: 'silence',
      starts: 999_999_999,
    });
  });
});

it('the guard counts where its file begins with the boot', () => {
  assert.deepEqual(
    [null, Buffer.from(''), Buffer.from(NO_STARTS), Buffer.from('\n'), Buffer.from('boot-1 1 20\n')].map(isCounting),
    [false, false, false, false, true],
  );
});
