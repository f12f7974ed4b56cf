import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRefusedWriteBackoff } from '#reconciler/cluster/refused-write-backoff.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const REFUSED = new KubeError('KUBE_INVALID', 'no', { status: 422 });
const BROKEN = new RangeError('Invalid time value');
const onNode = (name: string): Step => ({ step: 'delete-node', node: name, uid: 'u' });

function start() {
  const clock = createManualClock();
  const backoff = createRefusedWriteBackoff(clock);
  return { clock, backoff, isDue: (step: Step): boolean => backoff.due([step]).length === 1 };
}

describe('writes that are refused', () => {
  it('are forgotten but for twenty-five thousand: what was refused longest ago has its turn early', () => {
    const { backoff } = start();
    const steps = Array.from({ length: 25_001 }, (_, n) => onNode(`n-${n}`));
    for (const step of steps) backoff.failed(step, REFUSED);
    assert.deepEqual(backoff.due(steps), [steps[0]]);
  });

  it('begin again with the shortest time once they went through, or were not tried for a minute', () => {
    const { clock, backoff, isDue } = start();
    const step = onNode('a');
    const waitsFor = (ms: number): void => {
      clock.skip(ms - 1);
      assert.equal(isDue(step), false);
      clock.skip(1);
      assert.equal(isDue(step), true);
    };
    for (const ms of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      backoff.failed(step, REFUSED);
      waitsFor(ms);
    }
    backoff.done(step);
    backoff.failed(step, REFUSED);
    waitsFor(5_000);
    backoff.failed(step, REFUSED);
    clock.skip(10_000 + 59_999);
    assert.equal(isDue(step), true);
    backoff.failed(step, REFUSED);
    waitsFor(20_000);
    clock.skip(60_000);
    assert.equal(isDue(step), true);
    backoff.failed(step, REFUSED);
    waitsFor(5_000);
  });

  for (const code of ['KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_UNREACHABLE', 'KUBE_TIMEOUT'] as const) {
    it(`are those that say something of the object: after ${code} it is tried at once`, () => {
      const { backoff, isDue } = start();
      backoff.failed(onNode('a'), new KubeError(code, 'no'));
      assert.equal(isDue(onNode('a')), true);
    });
  }
});

describe('what could not be looked at while it was to be written', () => {
  it('is named once, by what the step was about, until the write goes through or is not wanted any more', () => {
    const { backoff } = start();
    const pool: Step = { step: 'delete-pool', pool: 'web', uid: 'u' };
    const config: Step = { step: 'delete-config-source', name: 'web-1', uid: 'u', because: 'unused' };
    const steps = [onNode('a'), { ...onNode('a'), step: 'evict', since: 0 } as Step, pool, config];
    for (const step of steps) backoff.failed(step, BROKEN);
    backoff.failed(onNode('b'), REFUSED);
    const left = (): readonly string[] => backoff.unreadable().map(({ of, name }) => `${of} ${name}`);
    assert.deepEqual(left(), ['node a', 'pool web', 'config-source web-1']);
    assert.equal(backoff.unreadable()[0]?.error, BROKEN);
    backoff.done(pool);
    assert.deepEqual(left(), ['node a', 'config-source web-1']);
    backoff.planned([onNode('a')]);
    assert.deepEqual(left(), ['node a']);
    backoff.planned([]);
    assert.deepEqual(left(), []);
  });
});
