import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../support/property.ts';
import { backoffAfter, type WatchBackoff, type WatchAttempt } from '#shared/kube/watch-backoff.ts';

const backoff = { firstMs: 1000, maxMs: 30_000, jitter: 0 };
const tried = (more: Partial<WatchAttempt>): WatchAttempt => ({
  ended: 'closed',
  heard: false,
  lastedMs: 10,
  askedMs: 0,
  ...more,
});

const rows: readonly (readonly [what: string, tried: WatchAttempt, misses: number, pace: WatchBackoff])[] = [
  ['a long watch that the server closed', tried({ lastedMs: 300_000 }), 4, go(0, 0)],
  ['a short one on which something was heard', tried({ heard: true, lastedMs: 300 }), 4, go(0, 700)],
  ['one that the server closed at once', tried({}), 0, go(1, 1000)],
  ['the second one that the server closed at once', tried({}), 1, go(2, 2000)],
  ['a fault after a good time', tried({ ended: 'fault', heard: true }), 7, go(1, 1000)],
  ['a fault after a long quiet time', tried({ ended: 'fault', lastedMs: 60_000 }), 7, go(1, 1000)],
  ['a fault after a call that hung', tried({ ended: 'fault', lastedMs: 59_999 }), 1, go(2, 2000)],
  ['the third fault in a row', tried({ ended: 'fault' }), 2, go(3, 4000, true)],
  ['the fourth fault in a row', tried({ ended: 'fault' }), 3, go(4, 8000)],
  ['the hundredth fault in a row', tried({ ended: 'fault' }), 99, go(100, 30_000)],
  ['a fault whose server asks for a minute', tried({ ended: 'fault', askedMs: 60_000 }), 0, go(1, 60_000)],
  ['the first forgotten version', tried({ ended: 'gone', lastedMs: 5000 }), 0, go(1, 0, true)],
  ['a version that is forgotten at once', tried({ ended: 'gone', lastedMs: 10 }), 0, go(1, 990, true)],
  ['the second forgotten version in a row', tried({ ended: 'gone', lastedMs: 5000 }), 1, go(2, 2000, true)],
];

function go(misses: number, pauseMs: number, listAgain = false): WatchBackoff {
  return { misses, pauseMs, listAgain };
}

describe('the pace of a follower', () => {
  for (const [what, one, misses, pace] of rows) {
    const list = pace.listAgain ? ' and lists again' : '';
    it(`after ${what} waits ${pace.pauseMs} ms${list}`, () => {
      assert.deepEqual(backoffAfter(one, misses, backoff, 0.5), pace);
    });
  }

  const tries = fc.record<WatchAttempt>({
    ended: fc.constantFrom('closed', 'gone', 'fault'),
    heard: fc.boolean(),
    lastedMs: fc.nat(700_000),
    askedMs: fc.constantFrom(0, 5000, 300_000),
  });
  const jittered = { ...backoff, jitter: 0.5 };

  it('never lets two tries begin within half of the first step, and never waits longer than it was asked to', () => {
    forAll(tries, fc.nat(200), fc.double({ min: 0, max: 0.999, noNaN: true }), (one, misses, random) => {
      const { pauseMs } = backoffAfter(one, misses, jittered, random);
      assert.ok(one.lastedMs + pauseMs >= 500);
      assert.ok(pauseMs >= one.askedMs);
      assert.ok(pauseMs <= Math.max(one.askedMs, 30_000));
    });
  });

  it('always lists after a forgotten version, and at the latest after three faults', () => {
    forAll(fc.array(tries, { minLength: 3, maxLength: 3 }), fc.nat(200), (series, before) => {
      let misses = before;
      const paces = series.map((one) => {
        const pace = backoffAfter({ ...one, heard: false, lastedMs: 1 }, misses, jittered, 0);
        misses = pace.misses;
        return pace;
      });
      assert.ok(paces.some(({ listAgain }) => listAgain));
    });
  });
});
