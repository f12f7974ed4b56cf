import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createListeners, type Listener } from '#reconciler/reporting/status-page/serve/listeners.ts';
import { createManualClock, settle } from '../../../../support/manual-clock.ts';

const GAP_MS = 1_000;
const BEAT_MS = 15_000;

/** A browser that counts what it hears, and reads only while it is told to. */
function browser(): Listener & { heard: number; reads: boolean; dropped: boolean } {
  return {
    heard: 0,
    reads: true,
    dropped: false,
    send() {
      if (!this.reads) return false;
      this.heard += 1;
      return true;
    },
    drop() {
      this.dropped = true;
    },
  };
}

function begin(t: TestContext, most = 10) {
  const clock = createManualClock();
  const listeners = createListeners({ clock, most, gapMs: GAP_MS, beatMs: BEAT_MS });
  const stop = new AbortController();
  const running = listeners.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return { clock, listeners, stop, running };
}

describe('those who follow the page', () => {
  it('hear of news at once, and of a burst once more', async (t) => {
    const { clock, listeners } = begin(t);
    const one = browser();
    listeners.join(one);
    listeners.notify();
    await settle();
    assert.equal(one.heard, 1);
    for (let times = 0; times < 500; times += 1) listeners.notify();
    await clock.advance(GAP_MS - 1);
    assert.equal(one.heard, 1);
    await clock.advance(1);
    assert.equal(one.heard, 2);
  });

  it('hear something every quarter of a minute, so that no proxy takes the line for dead', async (t) => {
    const { clock, listeners } = begin(t);
    const one = browser();
    listeners.join(one);
    await clock.advance(BEAT_MS);
    assert.equal(one.heard, 1);
  });

  it('are dropped where they do not read what was sent, and hold nobody else up', async (t) => {
    const { listeners } = begin(t);
    const [slow, quick] = [browser(), browser()];
    slow.reads = false;
    listeners.join(slow);
    listeners.join(quick);
    listeners.notify();
    await settle();
    assert.deepEqual([slow.dropped, quick.heard, listeners.count], [true, 1, 1]);
  });

  it('are no more than there is room for, until one leaves', (t) => {
    const { listeners } = begin(t, 2);
    const leave = listeners.join(browser());
    listeners.join(browser());
    assert.equal(listeners.join(browser()), null);
    leave?.();
    assert.notEqual(listeners.join(browser()), null);
  });

  it('are let go when the program ends', async (t) => {
    const { listeners, stop, running } = begin(t);
    const one = browser();
    listeners.join(one);
    stop.abort();
    await running;
    assert.deepEqual([one.dropped, listeners.count], [true, 0]);
  });
});
