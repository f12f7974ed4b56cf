import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommitStatus } from '#reconciler/reporting/forge/commit-status.ts';
import { dueStatuses, type PublishedStatus, REPOST_EVERY_MS } from '#reconciler/reporting/forge/due-statuses.ts';

const NOW = 1_000_000;
const forge = { word: (state: string) => `is-${state}`, describesAnew: () => true };
const wanted = (state: CommitStatus['state'], description = 'now'): CommitStatus => ({
  context: 'c',
  state,
  description,
});
const stands = (state: string, over: Partial<PublishedStatus> = {}): PublishedStatus => ({
  state: `is-${state}`,
  description: 'before',
  at: NOW - REPOST_EVERY_MS,
  reposts: 0,
  ...over,
});

/** What is due of one status: `now`, when, or `never`. */
function due(status: CommitStatus, standing: PublishedStatus | null, over: Partial<typeof forge> = {}): string {
  const present = new Map(standing === null ? [] : [['c', standing]]);
  const { now, next } = dueStatuses([status], present, { ...forge, ...over }, NOW);
  if (now.length > 0) return now[0] === status ? 'now' : 'another';
  return next === Number.POSITIVE_INFINITY ? 'never' : `in ${next - NOW} ms`;
}

describe('a status is posted', () => {
  for (const [what, when, status, standing] of [
    ['that does not stand there', 'now', wanted('pending'), null],
    ['that stands there in another state', 'now', wanted('success'), stands('pending', { at: NOW })],
    ['that stands there as it is', 'never', wanted('pending', 'before'), stands('pending')],
    ['whose words alone change, a minute after the last time', 'now', wanted('pending'), stands('pending')],
    ['whose words alone change, before', 'in 60000 ms', wanted('pending'), stands('pending', { at: NOW })],
    ['whose words alone change when it is over', 'now', wanted('failure'), stands('failure', { at: NOW })],
    ['whose words alone changed 199 times', 'now', wanted('pending'), stands('pending', { reposts: 199 })],
    ['whose words alone changed 200 times', 'never', wanted('pending'), stands('pending', { reposts: 200 })],
    ['whose words changed 200 times, in another state', 'now', wanted('success'), stands('pending', { reposts: 200 })],
  ] as const) {
    it(`${when} where it is one ${what}`, () => assert.equal(due(status, standing), when));
  }

  it('never where the forge does not take the same state in other words', () => {
    const fixed = { describesAnew: () => false };
    assert.equal(due(wanted('pending'), stands('pending'), fixed), 'never');
    assert.equal(due(wanted('success'), stands('pending'), fixed), 'now');
  });

  it('at the first time of several', () => {
    const statuses = ['c', 'd', 'e'].map((context) => ({ ...wanted('pending'), context }));
    const standing = new Map(
      [20_000, 50_000, 10_000].map((ago, n) => [['c', 'd', 'e'][n] ?? '', stands('pending', { at: NOW - ago })]),
    );
    assert.deepEqual(dueStatuses(statuses, standing, forge, NOW), { now: [], next: NOW + 10_000 });
  });
});
