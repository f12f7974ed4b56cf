import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPoolStatusRateLimit } from '#reconciler/reporting/pool-status/pool-status-rate-limit.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { poolInCluster, validPool } from '../../../support/fleet.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const EVERY_MS = 10_000;
const counts = (settled: number) => ({
  nodes: 9,
  updated: settled,
  updating: 9 - settled,
  pending: 0,
  failed: 0,
  noAgent: 0,
  drifted: 0,
});
const before: KubeletPoolStatus = { phase: 'Progressing', message: '1 of 9', counts: counts(1) };
const further: KubeletPoolStatus = { ...before, message: '2 of 9', counts: counts(2) };

function setUp() {
  const clock = createManualClock();
  const pace = createPoolStatusRateLimit(clock, EVERY_MS);
  const write = (status: KubeletPoolStatus, name = 'workers', present: KubeletPoolStatus = before): Step => ({
    step: 'write-pool-status',
    pool: { ...poolInCluster(validPool(name, 50)), status: present },
    status,
  });
  return { pace, write, pass: clock.skip };
}

describe('the pace of pool statuses', () => {
  it('lets a count be written once in its time, and again when that is over', () => {
    const { pace, write, pass } = setUp();
    assert.equal(pace.due([write(further)]).length, 1);
    pass(EVERY_MS - 1);
    assert.equal(pace.due([write(further)]).length, 0);
    pass(1);
    assert.equal(pace.due([write(further)]).length, 1);
  });

  it('holds up no phase, no halt, no wave and no failure', () => {
    const { pace, write } = setUp();
    pace.due([write(further)]);
    const news: readonly Partial<KubeletPoolStatus>[] = [
      { phase: 'Settled' },
      { halt: { config: 'c', sha256: 'x', at: 't', message: 'm', action: 'halt' } },
      { rollout: { configName: 'c', sha256: 'x', startedAt: 't', waves: [] } },
      { failures: [{ node: 'a', config: 'c', reason: 'r', message: 'm', at: 't' }] },
      { configName: 'other' },
      { conditions: [{ type: 'Ready', status: 'True', reason: 'Settled', message: 'm', lastTransitionTime: 't' }] },
    ];
    for (const each of news) assert.equal(pace.due([write({ ...further, ...each })]).length, 1, JSON.stringify(each));
  });

  it('takes how far a class of machines has come for progress, and another config or reason for news', () => {
    const { pace, write } = setUp();
    const config = { name: 'cpu=4', nodes: 9, updated: 1, configName: 'c', sha256: 'x' };
    const was: KubeletPoolStatus = { ...before, classes: [config] };
    const isDue = (next: NonNullable<KubeletPoolStatus['classes']>[number]): number =>
      pace.due([write({ ...further, classes: [next] }, 'workers', was)]).length;
    isDue({ ...config, updated: 2 });
    assert.equal(isDue({ ...config, updated: 3 }), 0);
    assert.equal(isDue({ ...config, nodes: 10 }), 0);
    assert.equal(isDue({ ...config, sha256: 'y' }), 1);
    assert.equal(isDue({ name: 'cpu=4', nodes: 9, message: 'less than nothing' }), 1);
    assert.equal(isDue({ ...config, name: 'cpu=8' }), 1);
  });

  it('is each pool’s own, and lets every other step through', () => {
    const { pace, write } = setUp();
    pace.due([write(further)]);
    const other: Step = { step: 'create-node', node: 'a', uid: 'u', at: 0 };
    assert.deepEqual(pace.due([write(further), write(further, 'others'), other]).length, 2);
  });

  it('holds nothing up where there is no pace', () => {
    const pace = createPoolStatusRateLimit(createManualClock(), 0);
    const { write } = setUp();
    assert.equal(pace.due([write(further)]).length + pace.due([write(further)]).length, 2);
  });
});
