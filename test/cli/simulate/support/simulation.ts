import type { Simulation } from '#cli/simulate/simulate.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { NOW } from '../../../support/fleet.ts';

const event = (pool: string, node: string, seconds: number, what: 'failed' | 'proved') => ({
  pool,
  node,
  at: NOW + seconds * 1000,
  event: what,
});
const counts = { nodes: 2, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

/** A hundred seconds: general has one wave done when its second node fails, gpu proves the config on both nodes. */
export const SIMULATION: Simulation = {
  start: NOW,
  end: NOW + 100_000,
  nodes: 4,
  invalidPools: [],
  events: [
    event('gpu', 'b-1', 25, 'proved'),
    event('general', 'a-1', 50, 'proved'),
    event('gpu', 'b-2', 75, 'proved'),
    event('general', 'a-2', 100, 'failed'),
  ],
  pools: new Map([
    [
      'general',
      {
        phase: 'Halted',
        message: 'failed on a-2',
        counts,
        rollout: {
          configName: 'general-1',
          sha256: 'a'.repeat(64),
          startedAt: toTimestamp(NOW),
          waves: [
            { name: 'canary', nodes: 1, state: 'done', startedAt: toTimestamp(NOW), doneAt: toTimestamp(NOW + 50_000) },
            { name: 'rest', nodes: 2, state: 'stopped' },
          ],
        },
      },
    ],
    ['gpu', { phase: 'Settled', counts }],
  ]),
};
