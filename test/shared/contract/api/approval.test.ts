import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { type Approval, approvalValue, awaitedApprovals, readApproval } from '#shared/contract/api/approval.ts';
import type { KubeletPoolStatus, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';

const SHA = 'a'.repeat(64);
const SINCE = '2026-11-22T10:00:00Z';

const approvals: fc.Arbitrary<Approval> = fc.record(
  {
    sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
    since: fc.integer({ min: 0, max: 4e12 }).map(toTimestamp),
    wave: fc.constantFrom('canary', 'step 1', 'step 20', 'rest'),
  },
  { requiredKeys: ['sha256', 'since'], noNullPrototype: true },
);

describe('the annotation of an approval', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(approvals, (approval) => {
        assert.deepEqual(readApproval(approvalValue(approval)), approval);
      }),
    );
  });

  it('is another one for another payload, wave or wait', () => {
    fc.assert(
      fc.property(approvals, approvals, (a, b) => {
        const isSame = a.sha256 === b.sha256 && a.since === b.since && a.wave === b.wave;
        assert.equal(approvalValue(a) === approvalValue(b), isSame);
      }),
    );
  });

  const unread: readonly (readonly [string, string | undefined])[] = [
    ['none', undefined],
    ['an empty one', ''],
    ['a payload without a wait', SHA],
    ['half a payload', `${SHA.slice(1)}@${SINCE}`],
    ['a wait without a payload', `@${SINCE} canary`],
    ['a wave of more than one line', `${SHA}@${SINCE} canary\n`],
    ['a space in place of a wave', `${SHA}@${SINCE} `],
  ];
  for (const [name, value] of unread) it(`says nothing: ${name}`, () => assert.equal(readApproval(value), undefined));
});

describe('what waits for a person', () => {
  const rollout: RolloutStatus = {
    configName: 'a-1',
    sha256: SHA,
    startedAt: SINCE,
    waves: [
      { name: 'canary', nodes: 1, state: 'done', pausedAt: SINCE },
      { name: 'rest', nodes: 3, state: 'waiting' },
    ],
  };
  const waiting = { configName: 'a-1', sha256: SHA, since: SINCE, wave: 'canary' };
  const approved = rollout.waves.map((wave) => ({ ...wave, approvedAt: SINCE }));
  const halt = { config: 'a-1', sha256: SHA, at: SINCE, message: '', action: 'halt' } as const;
  const rows: readonly (readonly [string, KubeletPoolStatus | undefined, readonly object[]])[] = [
    ['a wave with a pause', { rollout }, [waiting]],
    ['nothing once it was approved', { rollout: { ...rollout, waves: approved } }, []],
    ['nothing in a halted pool', { rollout, halt }, []],
    ['nothing once the rollout is over', { rollout: { ...rollout, finishedAt: SINCE } }, []],
    ['nothing without a rollout', {}, []],
    ['nothing without a status', undefined, []],
  ];
  for (const [name, status, expected] of rows) it(name, () => assert.deepEqual(awaitedApprovals(status), expected));
});
