import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { rolloutInTime } from '../../../support/rollout/rollout-in-time.ts';

const MINUTE = 60_000;

describe('the time that is left of a rollout', () => {
  const ROWS: readonly (readonly [string, number, Partial<RolloutSpec>])[] = [
    ['one at a time', 20, {}],
    ['many at a time', 60, { maxUnavailable: '10%' }],
    ['that few may try', 30, { maxUnavailable: 5, maxOnTrial: 2 }],
    ['that soaks', 12, { maxUnavailable: 2, soak: '4m' }],
    ['within zones', 18, { maxUnavailable: 4, maxUnavailablePerZone: 1 }],
    ['in waves', 20, { maxUnavailable: 3, canary: { nodes: 2, soak: '5m' }, steps: [{ nodes: '50%', soak: '3m' }] }],
    ['with a full probation', 12, { maxUnavailable: 2, probation: 'full', soak: '2m' }],
    ['with canaries by their labels', 12, { canary: { selector: { matchLabels: { pool: 'w' } } }, maxUnavailable: 3 }],
  ];
  for (const [name, count, rollout] of ROWS) {
    it(`is at every moment what it then takes: ${name}`, () => {
      const moments = rolloutInTime(count, rollout);
      const settledAt = moments.find(({ planned }) => planned.pools.get('w')?.phase === 'Settled')?.now ?? NaN;
      const timed = moments.filter(({ told }) => told?.remaining?.is === 'time');
      assert.ok(timed.length > 5, `${timed.length} of ${moments.length} moments`);
      for (const { now, told } of timed) {
        const left = told?.remaining?.is === 'time' ? told.remaining : { expectedMs: NaN, quickMs: NaN, slowMs: NaN };
        const off = Math.abs(left.expectedMs - (settledAt - now));
        const most = MINUTE + 0.05 * (settledAt - now);
        assert.ok(off <= most, `${left.expectedMs / MINUTE} and ${(settledAt - now) / MINUTE} minutes`);
        assert.ok(left.quickMs <= left.expectedMs && left.expectedMs <= left.slowMs);
      }
      const last = moments.at(-1);
      assert.equal(last?.told?.remaining, null);
    });
  }

  it('is that of the soak when all have proven it', () => {
    const moments = rolloutInTime(3, { maxUnavailable: 3, soak: '4m' });
    const soaking = moments.filter(({ told }) => told?.remaining?.is === 'soak');
    const end = moments.at(-1)?.now ?? 0;
    assert.ok(soaking.length > 0);
    for (const { now, told } of soaking) {
      assert.deepEqual(told?.remaining, { is: 'soak', ms: end - now });
    }
  });

  const UNKNOWN: readonly (readonly [string, Partial<RolloutSpec>, RegExp])[] = [
    [
      'that no window lets begin',
      { windows: { allow: [{ cron: '0 3 * * *', duration: '1h' }], deny: [], overrun: 'stop' } },
      /window/,
    ],
    ['that may have none unavailable', { maxUnavailable: 0 }, /maxUnavailable allows 0/],
  ];
  for (const [name, rollout, said] of UNKNOWN) {
    it(`is not known of a rollout ${name}`, () => {
      const remaining = rolloutInTime(4, rollout)[0]?.told?.remaining;
      assert.equal(remaining?.is, 'unknown');
      assert.match(remaining?.is === 'unknown' ? remaining.because : '', said);
    });
  }

  it('is not known of a rollout that failures halted', () => {
    const remaining = rolloutInTime(4, {}, () => 5_000).at(-1)?.told?.remaining;
    assert.deepEqual(remaining, { is: 'unknown', because: 'the pool is halted' });
  });
});
