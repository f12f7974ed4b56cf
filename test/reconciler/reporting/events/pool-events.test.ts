import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOfPool } from '#reconciler/reporting/events/pool-events.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';

const AT = '2026-11-21T12:00:00Z';
const events = (status: KubeletPoolStatus) =>
  eventsOfPool({ metadata: { name: 'web', uid: 'u' }, status }).map(
    ({ reason, type, note, at = '-' }) => `${type} ${reason} ${at} ${note}`,
  );
const ready = { type: 'Ready', status: 'True', reason: 'Settled', message: '', lastTransitionTime: AT } as const;
const counts = (nodes: number) =>
  ({ nodes, updated: nodes, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 }) as const;

describe('what is told of a pool', () => {
  it('is the first five classes of machines that have no config', () => {
    const classes = Array.from({ length: 9 }, (_, n) => ({ name: `c${n}`, nodes: 1, message: 'too small' }));
    const done = { name: 'done', nodes: 1, updated: 1, configName: 'web-1' };
    const told = events({ classes: [done, ...classes] });
    assert.deepEqual(
      told,
      ['c0', 'c1', 'c2', 'c3', 'c4'].map(
        (name) => `Warning ClassHeld - Machines with ${name}: 1 node keeps what it has: too small`,
      ),
    );
  });

  it('is that all of it runs the config, where it does', () => {
    const settled = { phase: 'Settled', configName: 'web-1', conditions: [ready], counts: counts(3) } as const;
    const one = `Normal RolloutSettled ${AT} The one node runs web-1 and has proven it`;
    assert.deepEqual(events(settled), [`Normal RolloutSettled ${AT} All 3 nodes run web-1 and have proven it`]);
    assert.deepEqual(events({ ...settled, counts: counts(1) }), [one]);
    for (const over of [
      { phase: 'Progressing' },
      { configName: '' },
      { conditions: [{ ...ready, status: 'False' }] },
    ] as const) {
      assert.deepEqual(events({ ...settled, ...over }), []);
    }
  });

  it('is a halt, with what the pool does then', () => {
    const halt = { config: 'web-1', sha256: 'x', at: AT, message: 'two nodes failed' } as const;
    assert.deepEqual(events({ halt: { ...halt, action: 'halt' } }), [`Warning RolloutHalted ${AT} two nodes failed`]);
    assert.deepEqual(events({ halt: { ...halt, action: 'revert' } }), [
      `Warning RolloutReverting ${AT} two nodes failed`,
    ]);
  });

  it('is that nodes wait for their turn, for a budget and for nothing else', () => {
    const hold = { nodes: 2, message: 'maxUnavailable allows 1', examples: [] };
    for (const reason of ['budget', 'zone-budget', 'overall-budget'] as const) {
      assert.deepEqual(events({ holds: [{ ...hold, reason }] }), [
        'Normal RateLimited - 2 nodes wait for their turn: maxUnavailable allows 1',
      ]);
    }
    assert.deepEqual(events({ holds: [{ ...hold, reason: 'window' }] }), []);
  });
});
