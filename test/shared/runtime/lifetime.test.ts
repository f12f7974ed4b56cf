import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLifetime, withLifetime } from '#shared/runtime/lifetime.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { column } from '../../support/columns.ts';

describe('a lifetime', () => {
  it('is cut at once by a limit that is over already', () => {
    for (const ms of [0, -1]) {
      const life = createLifetime(createManualClock(), undefined, () => undefined);
      life.cutAfter(ms, () => 'late');
      assert.equal(life.signal.reason, 'late');
    }
  });

  it('lasts as long as its work, which leaves no timer and no listener behind', async () => {
    const clock = createManualClock();
    const parent = new AbortController();
    const term = { clock, parent: parent.signal, onParent: () => 'called off', ms: 100, reason: () => 'late' };
    const signals: AbortSignal[] = [];
    for (const work of [() => Promise.resolve(1), () => Promise.reject(new Error('failed'))]) {
      const done = withLifetime<unknown>(term, ({ signal }) => {
        signals.push(signal);
        return work();
      });
      await done.catch(() => undefined);
    }
    parent.abort();
    assert.deepEqual(clock.sleeping(), []);
    assert.deepEqual(column(signals, 'aborted'), [false, false]);
  });

  it('is cut for its parent’s reason or its own, whichever comes first', async () => {
    const clock = createManualClock();
    const parent = new AbortController();
    const term = { clock, parent: parent.signal, onParent: () => 'called off', ms: 100, reason: () => 'late' };
    const reason = () =>
      withLifetime(
        term,
        ({ signal }) =>
          new Promise((resolve) => {
            if (signal.aborted) return resolve(signal.reason);
            signal.addEventListener('abort', () => resolve(signal.reason));
          }),
      );
    const late = reason();
    await clock.advance(100);
    assert.equal(await late, 'late');
    const calledOff = reason();
    parent.abort();
    assert.equal(await calledOff, 'called off');
    assert.equal(await reason(), 'called off');
  });
});
