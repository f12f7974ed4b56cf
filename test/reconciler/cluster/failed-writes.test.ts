import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFailedWrites } from '#reconciler/cluster/failed-writes.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const REFUSED = new KubeError('KUBE_INVALID', 'no', { status: 422 });
const BROKEN = new RangeError('Invalid time value');
const DOWN = new KubeError('KUBE_SERVER_ERROR', 'Internal error', { status: 500 });
const onNode = (node: string): Step => ({ step: 'delete-node', node, uid: 'u' });
const [A, B] = [onNode('a'), onNode('b')];

function start() {
  const clock = createManualClock();
  const writes = createFailedWrites(clock);
  const fail = (step: Step, times: number, error: unknown = DOWN): void => {
    for (let time = 0; time < times; time += 1) writes.failed(step, error);
  };
  const isDue = (step: Step): boolean => writes.due([step]).length === 1;
  return { clock, writes, fail, isDue, names: () => writes.failing().map(({ node }) => node) };
}

describe('writes that fail', () => {
  it('are told from the third time on, with when they failed first and what the server says', () => {
    const { clock, writes, fail } = start();
    const since = new Date(clock.now()).toISOString();
    fail(A, 2);
    assert.deepEqual(writes.failing(), []);
    clock.skip(60_000);
    fail(A, 1);
    const [found] = writes.failing();
    assert.deepEqual([found?.write, found?.node, found?.message], ['delete-node', 'a', 'Internal error']);
    assert.equal(Date.parse(found?.since ?? ''), Math.floor(Date.parse(since) / 1000) * 1000);
  });

  it('are told no more once they went through, or are wanted no more', () => {
    const { writes, fail, names } = start();
    fail(A, 3);
    fail(B, 3);
    assert.deepEqual(names(), ['a', 'b']);
    writes.done(A);
    assert.deepEqual(names(), ['b']);
    writes.planned([A]);
    assert.deepEqual(names(), []);
  });

  for (const code of ['KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ABORTED'] as const) {
    it(`are none because the world moved on: ${code}`, () => {
      const { fail, names } = start();
      fail(A, 5, new KubeError(code, 'no'));
      assert.deepEqual(names(), []);
    });
  }
});

describe('writes that are refused', () => {
  it('are forgotten but for twenty-five thousand: what was refused longest ago has its turn early', () => {
    const { writes } = start();
    const steps = Array.from({ length: 25_001 }, (_, n) => onNode(`n-${n}`));
    for (const step of steps) writes.failed(step, REFUSED);
    assert.deepEqual(writes.due(steps), [steps[0]]);
  });

  it('begin again with the shortest time once they went through, or were not tried for a minute', () => {
    const { clock, writes, isDue } = start();
    const waitsFor = (ms: number): void => {
      clock.skip(ms - 1);
      assert.equal(isDue(A), false);
      clock.skip(1);
      assert.equal(isDue(A), true);
    };
    for (const ms of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      writes.failed(A, REFUSED);
      waitsFor(ms);
    }
    writes.done(A);
    writes.failed(A, REFUSED);
    waitsFor(5_000);
    writes.failed(A, REFUSED);
    clock.skip(10_000 + 59_999);
    assert.equal(isDue(A), true);
    writes.failed(A, REFUSED);
    waitsFor(20_000);
    clock.skip(60_000);
    assert.equal(isDue(A), true);
    writes.failed(A, REFUSED);
    waitsFor(5_000);
  });

  it('wait as long when they are wanted again, and are told as if they had never failed', () => {
    const { clock, writes, fail, isDue, names } = start();
    fail(A, 3, REFUSED);
    fail(B, 3);
    writes.planned([]);
    assert.deepEqual([names(), isDue(A), isDue(B)], [[], false, true]);
    clock.skip(20_000);
    assert.equal(isDue(A), true);
    fail(A, 2);
    assert.deepEqual([names(), isDue(A)], [[], true]);
    fail(A, 1);
    assert.deepEqual(names(), ['a']);
    clock.skip(60_000);
    assert.deepEqual([isDue(A), names()], [true, ['a']]);
  });

  for (const code of ['KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_UNREACHABLE', 'KUBE_TIMEOUT'] as const) {
    it(`are those that say something of the object: after ${code} it is tried at once`, () => {
      const { writes, isDue } = start();
      writes.failed(A, new KubeError(code, 'no'));
      assert.equal(isDue(A), true);
    });
  }
});

describe('what could not be looked at while it was to be written', () => {
  it('is named once, by what the step was about, until the write goes through or is not wanted any more', () => {
    const { writes } = start();
    const pool: Step = { step: 'delete-pool', pool: 'web', uid: 'u' };
    const config: Step = { step: 'delete-config-source', name: 'web-1', uid: 'u', because: 'unused' };
    const steps = [A, { ...A, step: 'evict', since: 0 } as Step, pool, config];
    for (const step of steps) writes.failed(step, BROKEN);
    writes.failed(B, REFUSED);
    const left = (): readonly string[] => writes.unreadable().map(({ of, name }) => `${of} ${name}`);
    assert.deepEqual(left(), ['node a', 'pool web', 'config-source web-1']);
    assert.equal(writes.unreadable()[0]?.error, BROKEN);
    writes.done(pool);
    assert.deepEqual(left(), ['node a', 'config-source web-1']);
    writes.planned([A]);
    assert.deepEqual(left(), ['node a']);
    writes.planned([]);
    assert.deepEqual(left(), []);
  });
});
