import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApprovalFacts, type Pause, pauseAfter } from '#reconciler/policy/rollout/pause.ts';
import { approvalValue } from '#shared/contract/api/approval.ts';
import type { WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { claimText } from '#shared/contract/claim.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { NOW } from '../../../support/fleet.ts';

const SHA = 'a'.repeat(64);
const AT = toTimestamp(NOW);
const SINCE = toTimestamp(NOW - 3_600_000);
const VALUE = approvalValue({ sha256: SHA, since: SINCE, wave: 'step 1' });
const BY_ADA = claimText({ verb: 'approve', at: SINCE, who: 'ada' }, VALUE);

interface Case {
  readonly wave?: Partial<Parameters<typeof pauseAfter>[0]>;
  /** What the status remembers of the wave; undefined for a new rollout. */
  readonly known?: Partial<WaveStatus>;
  readonly next?: Partial<WaveStatus>;
  readonly facts?: Partial<ApprovalFacts>;
}

function after({ wave, known, next, facts }: Case): Pause {
  const waves: readonly WaveStatus[] = [
    { name: 'canary', nodes: 1, state: 'done', startedAt: SINCE, doneAt: SINCE },
    { name: 'step 1', nodes: 3, state: 'done', startedAt: SINCE, doneAt: SINCE, ...known },
    { name: 'rest', nodes: 9, state: 'waiting', ...next },
  ];
  const before = { configName: 'workers-1', sha256: SHA, startedAt: SINCE, waves };
  return pauseAfter(
    { name: 'step 1', nodes: 3, pause: true, isLast: false, ...wave },
    waves[1],
    known === undefined && next === undefined ? undefined : before,
    { pool: 'workers', configName: 'workers-1', sha256: SHA, isProven: false, isCompared: true, ...facts },
    NOW,
  );
}

const ASKED = { pausedAt: SINCE };
const APPROVED = { ...ASKED, approvedAt: SINCE, approvedBy: 'ada' };

/** What is so; whether it goes on, and what is remembered. */
const ROWS: readonly (readonly [string, Case, isOver: boolean, Pause['record']])[] = [
  ['a wave without a pause', { wave: { pause: false } }, true, {}],
  ['one that was just done', {}, false, { pausedAt: AT }],
  ['one that nobody has approved yet', { known: ASKED }, false, ASKED],
  ['one with nobody after it', { known: ASKED, wave: { isLast: true } }, true, {}],
  ['one whose pause was taken away', { known: ASKED, wave: { pause: false } }, true, {}],
  ['one of what is proven', { facts: { isProven: true } }, true, {}],
  ['one that nodes have gone past', { next: { startedAt: SINCE } }, true, {}],
  ['one that no larger one has gone past', { next: { startedAt: SINCE, nodes: 3 } }, false, { pausedAt: AT }],
  ['one that is being compared', { facts: { isCompared: false } }, false, {}],
  [
    'one that asks already, while another leader compares again',
    { known: ASKED, facts: { isCompared: false } },
    false,
    ASKED,
  ],
  ['one that was approved', { known: APPROVED }, true, APPROVED],
  [
    'one that was approved, without the annotation and with another one',
    { known: APPROVED, facts: { value: 'x' } },
    true,
    APPROVED,
  ],
  [
    'an approval by ada',
    { known: ASKED, facts: { value: VALUE, by: BY_ADA } },
    true,
    { ...ASKED, approvedAt: AT, approvedBy: 'ada' },
  ],
  ['an approval by nobody who says so', { known: ASKED, facts: { value: VALUE } }, true, { ...ASKED, approvedAt: AT }],
  [
    'an approval beside the claim of something else',
    { known: ASKED, facts: { value: VALUE, by: claimText({ verb: 'suspend', at: SINCE, who: 'mallory' }, VALUE) } },
    true,
    { ...ASKED, approvedAt: AT },
  ],
  ['an approval before anybody was asked', { facts: { value: VALUE } }, false, { pausedAt: AT }],
  [
    'an approval before anybody was asked, in the same second',
    { facts: { value: approvalValue({ sha256: SHA, since: AT, wave: 'step 1' }) } },
    false,
    { pausedAt: AT },
  ],
  ['an approval of an earlier wait', { known: { pausedAt: AT }, facts: { value: VALUE } }, false, { pausedAt: AT }],
  ['an approval of another wave', { known: ASKED, facts: { value: VALUE.replace('step 1', 'canary') } }, false, ASKED],
  [
    'an approval of the payload as a whole',
    { known: ASKED, facts: { value: VALUE.replace(' step 1', '') } },
    false,
    ASKED,
  ],
  ['an approval of another payload', { known: ASKED, facts: { value: VALUE.replace('a', 'b') } }, false, ASKED],
];

describe('after a wave, a rollout', () => {
  for (const [name, given, isOver, record] of ROWS) {
    it(`${isOver ? 'goes on' : 'waits'}: ${name}`, () => {
      const found = after(given);
      assert.deepEqual([found.isOver, found.record], [isOver, record]);
      assert.equal(found.because === '', isOver);
      assert.equal(found.isApprovedNow, record.approvedAt === AT);
    });
  }

  it('says what waits since when, and what to type', () => {
    assert.equal(
      after({ known: ASKED }).because,
      `workers-1 waits after wave step 1 for a person since ${SINCE}: approve it with kubelet-gitops approve workers`,
    );
  });
});
