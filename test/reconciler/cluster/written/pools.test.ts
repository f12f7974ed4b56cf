import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWrittenPools } from '#reconciler/cluster/written/pools.ts';
import type { KubeletPool, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import type { Clock } from '#shared/runtime/clock.ts';

const pool = (resourceVersion: string, phase: PoolPhase, more: object = {}): KubeletPool => ({
  metadata: { name: 'a', uid: 'u', generation: 1, resourceVersion, ...more },
  status: { phase },
});

function setUp() {
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const written = createWrittenPools(clock);
  const phaseOver = (watched: KubeletPool, listedAtMs = 0) =>
    written.over(new Map([['a', watched]]), listedAtMs).get('a')?.status?.phase;
  return { written, phaseOver, pass: (ms: number) => (now += ms) };
}

describe('what the reconciler wrote into a pool', () => {
  it('is seen before the watch shows it, whatever older status that shows', () => {
    const { written, phaseOver } = setUp();
    written.wrote(pool('8', 'Progressing'));
    written.wrote(pool('9', 'Settled'));
    assert.equal(phaseOver(pool('7', 'Waiting')), 'Settled');
    assert.equal(phaseOver(pool('8', 'Progressing')), 'Settled');
  });

  it('gives way when the watch shows it, also with what somebody else wrote since', () => {
    for (const seen of [pool('9', 'Settled'), pool('10', 'Settled', { annotations: { a: 'b' } })]) {
      const { written, phaseOver } = setUp();
      written.wrote(pool('9', 'Settled'));
      assert.equal(phaseOver(seen), 'Settled');
      assert.equal(phaseOver(pool('11', 'Halted')), 'Halted');
    }
  });

  it('is not thought to be there before the watch has the spec that was written', () => {
    const { written } = setUp();
    written.wrote(pool('9', 'Settled', { generation: 2 }));
    const over = written.over(new Map([['a', pool('8', 'Settled')]]), 0);
    assert.equal(over.get('a')?.metadata.generation, 2);
  });

  it('gives way to another pool of the same name, to a later list, and after a minute', () => {
    for (const [seen, listedAtMs, afterMs] of [
      [pool('1', 'Empty', { uid: 'v' }), 0, 0],
      [pool('7', 'Empty'), 1, 0],
      [pool('7', 'Empty'), 0, 60_001],
    ] as const) {
      const { written, phaseOver, pass } = setUp();
      written.wrote(pool('9', 'Settled'));
      pass(afterMs);
      assert.equal(phaseOver(seen, listedAtMs), 'Empty');
      assert.equal(phaseOver(pool('7', 'Empty')), 'Empty');
    }
  });

  it('does not bring a pool back that is gone', () => {
    const { written } = setUp();
    written.wrote(pool('9', 'Settled'));
    assert.equal(written.over(new Map(), 0).size, 0);
  });
});
