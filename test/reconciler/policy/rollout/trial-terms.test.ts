import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { probationOf, trialTermsOf } from '#reconciler/policy/rollout/trial-terms.ts';
import type { PoolTrialSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import { poolSpec } from '../../../support/fleet.ts';

/** What the pool says, after how many seconds a place is given back, and how long the trials after the canaries are. */
const ROWS: readonly (readonly [
  string,
  Pick<RolloutSpec, 'probation'>,
  Partial<PoolTrialSpec>,
  number | null,
  string,
])[] = [
  ['without a word on it, 50 s and three times that', {}, {}, 50, '2m30s'],
  ['its own probation, and three times that', { probation: '2m' }, {}, 120, '6m'],
  ['its own trial after the canaries', { probation: '2m' }, { durationAfterCanary: '2m' }, 120, '2m'],
  ['no trial that is longer than that of the canaries', { probation: '5m' }, {}, 300, '10m'],
  ['however long one it asks for', {}, { durationAfterCanary: '1h' }, 50, '10m'],
  ['none that is as long, in other words', {}, { duration: '600s', durationAfterCanary: '10m' }, 50, '600s'],
  ['the whole trial for everybody with a full probation', { probation: 'full' }, {}, null, '10m'],
  ['whatever else it asks for', { probation: 'full' }, { durationAfterCanary: '1m' }, null, '10m'],
];

describe('the pace of a pool is', () => {
  for (const [name, rollout, trial, probation, after] of ROWS) {
    it(name, () => {
      const { probation: _, ...usual } = poolSpec().rollout;
      const { durationAfterCanary: __, ...full } = { ...DEFAULT_TRIAL, ...trial };
      const terms = trialTermsOf({ rollout: { ...usual, ...rollout }, trial: { ...DEFAULT_TRIAL, ...trial } });
      assert.equal(probationOf(rollout), probation === null ? null : probation * 1000);
      assert.deepEqual(terms.full, full);
      assert.deepEqual(terms.afterCanary, { ...DEFAULT_TRIAL, duration: after });
    });
  }
});
