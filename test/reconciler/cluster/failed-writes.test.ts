import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFailedWrites } from '#reconciler/cluster/failed-writes.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const DOWN = new KubeError('KUBE_SERVER_ERROR', 'Internal error', { status: 500 });
const onNode = (node: string): Step => ({ step: 'delete-node', node, uid: 'u' });
const [A, B] = [onNode('a'), onNode('b')];

function start() {
  const clock = createManualClock();
  const writes = createFailedWrites(clock);
  const fail = (step: Step, times: number, error: unknown = DOWN): void => {
    for (let time = 0; time < times; time += 1) writes.failed(step, error);
  };
  return { clock, writes, fail, names: () => writes.list().map(({ node }) => node) };
}

describe('writes that fail', () => {
  it('are told from the third time on, with when they failed first and what the server says', () => {
    const { clock, writes, fail } = start();
    const since = new Date(clock.now()).toISOString();
    fail(A, 2);
    assert.deepEqual(writes.list(), []);
    clock.skip(60_000);
    fail(A, 1);
    const [found] = writes.list();
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
