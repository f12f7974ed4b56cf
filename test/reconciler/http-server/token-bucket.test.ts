import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTokenBucket } from '#reconciler/http-server/token-bucket.ts';

/** Time that the test moves on. */
function bucket(): { now: number; readonly take: () => number; readonly reserve: () => number } {
  const at = { now: 1_000 };
  return Object.assign(at, createTokenBucket({ monotonic: () => at.now }, { burst: 2, everyMs: 100 }));
}

describe('a bucket of tokens', () => {
  it('has so many at once, and one more every so often', () => {
    const tokens = bucket();
    assert.deepEqual([tokens.take(), tokens.take(), tokens.take()], [0, 0, 100]);
    tokens.now += 60;
    assert.equal(tokens.take(), 40, 'who was turned away took none');
    tokens.now += 40;
    assert.deepEqual([tokens.take(), tokens.take()], [0, 100]);
  });

  it('never has more than so many, however long nobody came', () => {
    const tokens = bucket();
    tokens.now += 3_600_000;
    assert.deepEqual([tokens.take(), tokens.take(), tokens.take()], [0, 0, 100]);
  });

  it('lets those who wait come one after the other', () => {
    const tokens = bucket();
    assert.deepEqual([tokens.reserve(), tokens.reserve(), tokens.reserve(), tokens.reserve()], [0, 0, 100, 200]);
    tokens.now += 200;
    assert.deepEqual([tokens.reserve(), tokens.reserve()], [100, 200]);
  });
});
