import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '#shared/runtime/clock.ts';
import { createPollDebounce } from '#reconciler/git/poll-debounce.ts';

const GAP_MS = 1_000;

/** Time that a sleeper's end moves on to at once. */
function leapingClock(): Clock & { readonly at: () => number } {
  let at = 0;
  return {
    at: () => at,
    now: () => at,
    monotonic: () => at,
    sleep: (ms) => {
      at += ms;
      return Promise.resolve();
    },
  };
}

function begin() {
  const clock = leapingClock();
  const stop = new AbortController();
  const looks: number[] = [];
  const errors: unknown[] = [];
  let running = 0;
  const gate: { wait: Promise<void>; error: Error | null } = { wait: Promise.resolve(), error: null };
  const pokes = createPollDebounce({
    clock,
    gapMs: GAP_MS,
    signal: stop.signal,
    onError: (error) => errors.push(error),
    async look() {
      running += 1;
      assert.equal(running, 1, 'never two at a time');
      looks.push(clock.at());
      await gate.wait;
      running -= 1;
      if (gate.error !== null) throw gate.error;
    },
  });
  return { pokes, looks, errors, gate, stop, clock };
}

describe('pokes', () => {
  it('are followed by a look at once', async () => {
    const { pokes, looks } = begin();
    await pokes.trigger();
    assert.deepEqual(looks, [0]);
  });

  it('make one look of a burst, and looks stay apart', async () => {
    const { pokes, looks } = begin();
    await Promise.all(Array.from({ length: 50 }, () => pokes.trigger()));
    assert.deepEqual(looks, [0]);
    await Promise.all([pokes.trigger(), pokes.trigger()]);
    await pokes.trigger();
    assert.deepEqual(looks, [0, GAP_MS, 2 * GAP_MS]);
  });

  it('during a look make another one after it: the branch may have been read already', async () => {
    const { pokes, looks, gate } = begin();
    let open = (): void => undefined;
    gate.wait = new Promise((resolve) => (open = resolve));
    const first = pokes.trigger();
    while (looks.length === 0) await Promise.resolve();
    const second = pokes.trigger();
    const third = pokes.trigger();
    open();
    await Promise.all([first, second, third]);
    assert.deepEqual(looks, [0, GAP_MS]);
  });

  it('go on after a look that failed', async () => {
    const { pokes, looks, errors, gate } = begin();
    gate.error = new Error('no git today');
    await pokes.trigger();
    gate.error = null;
    await pokes.trigger();
    assert.equal(looks.length, 2);
    assert.equal(errors.length, 1);
  });

  it('are followed by nothing once it is over', async () => {
    const { pokes, looks, stop } = begin();
    stop.abort();
    await pokes.trigger();
    assert.deepEqual(looks, []);
  });
});
