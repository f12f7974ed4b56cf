import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideLease, type LeaseDecision, observeLease } from '#reconciler/cluster/leader/decide-lease.ts';
import { type Lease, type LeaseSpec, releasedSpec } from '#reconciler/cluster/leader/lease.ts';
import { LEASE_TIMING } from '#reconciler/cluster/leader/lease-times.ts';
import { toMicroTime } from '#reconciler/cluster/kube/micro-time.ts';

const WALL = Date.UTC(2026, 0, 1, 12, 0, 0, 5);
const NOW = '2026-01-01T12:00:00.005000Z';
const mine = { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: NOW };
const lease = (spec?: LeaseSpec): Lease => ({
  metadata: { name: 'l', resourceVersion: '7' },
  ...(spec === undefined ? {} : { spec }),
});
const held = (by: string, more: LeaseSpec = {}): Lease =>
  lease({ holderIdentity: by, leaseDurationSeconds: 15, leaseTransitions: 3, ...more });

const rows: readonly (readonly [what: string, lease: Lease | null, ageMs: number, decision: LeaseDecision])[] = [
  ['that is not there', null, 0, { do: 'create', spec: { ...mine, acquireTime: NOW, leaseTransitions: 0 } }],
  ['that is mine', held('me'), 1, { do: 'renew', spec: mine }],
  ['that is mine and old', held('me'), 1e6, { do: 'renew', spec: mine }],
  ["that is another's and fresh", held('you'), 0, { do: 'wait', holder: 'you', forMs: 15_000 }],
  ["that is another's, a moment before its end", held('you'), 14_999, { do: 'wait', holder: 'you', forMs: 1 }],
  ["that is another's and at its end", held('you'), 15_000, take('you', 4)],
  ['whose holder promised half a minute', held('you', { leaseDurationSeconds: 30 }), 29_000, wait(1000)],
  ['whose holder promised nothing', held('you', { leaseDurationSeconds: null }), 14_000, wait(1000)],
  ['that was given back', lease(releasedSpec(WALL)), 0, take('', 1)],
  ['that says nothing', lease(), 0, take('', 1)],
  ['that a process before held in this pod, a moment too soon', held('pod-1_old'), 4_999, wait(1, 'pod-1_old')],
  ['that a process before held in this pod', held('pod-1_old'), 5_000, take('pod-1_old', 4)],
  [
    'that a process before held in this pod, however it promised',
    promised('pod-1_old', 600),
    5_000,
    take('pod-1_old', 4),
  ],
  ['of a pod whose name begins like ours', held('pod-12_old'), 14_999, wait(1, 'pod-12_old')],
  ['of something that is called like our pod', held('pod-1'), 14_999, wait(1, 'pod-1')],
  [
    'that was renewed by a clock of last century',
    held('you', { renewTime: '1999-01-01T00:00:00.000000Z' }),
    1000,
    wait(14_000),
  ],
];

function take(from: string, leaseTransitions: number): LeaseDecision {
  return { do: 'take', from, spec: { ...mine, acquireTime: NOW, leaseTransitions } };
}

function wait(forMs: number, holder = 'you'): LeaseDecision {
  return { do: 'wait', holder, forMs };
}

function promised(by: string, leaseDurationSeconds: number): Lease {
  return held(by, { leaseDurationSeconds });
}

describe('a lease', () => {
  for (const [what, one, ageMs, decision] of rows) {
    it(`${what} (seen for ${ageMs} ms): ${decision.do}`, () => {
      const sighting = one === null ? null : observeLease(one, null, 5000);
      const pod = 'pod-1';
      const moment = {
        lease: one,
        observation: sighting,
        me: 'me',
        pod,
        nowMs: 5000 + ageMs,
        wallMs: WALL,
        timing: LEASE_TIMING,
      };
      assert.deepEqual(decideLease(moment), decision);
    });
  }

  it('is held to its end where no pod is known', () => {
    const holder = 'undefined_old';
    const moment = { me: 'me', nowMs: 5_000, wallMs: WALL, timing: LEASE_TIMING };
    const sighting = observeLease(held(holder), null, 0);
    assert.deepEqual(decideLease({ ...moment, lease: held(holder), observation: sighting }), wait(10_000, holder));
  });

  it('is as old as the first sight of what it says', () => {
    const first = observeLease(held('you', { renewTime: 'a' }), null, 100);
    assert.equal(observeLease(held('you', { renewTime: 'a' }), first, 900), first);
    assert.equal(observeLease(held('you', { renewTime: 'b' }), first, 900).sinceMs, 900);
    assert.equal(observeLease(held('he', { renewTime: 'a' }), first, 900).sinceMs, 900);
  });

  it('is not made younger by a write to its labels', () => {
    const labelled: Lease = { ...held('you'), metadata: { name: 'l', resourceVersion: '8', labels: { a: 'b' } } };
    assert.equal(observeLease(labelled, observeLease(held('you'), null, 100), 900).sinceMs, 100);
  });

  it('has times with six digits, which is all that the API server reads', () => {
    assert.equal(toMicroTime(WALL), NOW);
  });
});
