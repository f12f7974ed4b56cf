import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cohortOf } from '#reconciler/policy/rollout/cohort.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

const SECOND = 1_000;
const NEWEST = '2026-11-21T12:00:00Z';
const CANARY = { selector: { matchLabels: { canary: 'yes' } } };

/** A node of this name that was created so long after the newest one at the beginning. */
const node = (name: string, afterMs: number, labels: Readonly<Record<string, string>> = {}): Member => {
  const view = nodeView(name, 'workers', { createdAt: NOW + afterMs });
  return memberOf({ ...view, labels: { ...view.labels, ...labels } }, undefined, null, 0, NOW);
};
const OLD = () => node('old', -SECOND);
const LAST = () => node('last', SECOND - 1);
const LATE = () => node('late', SECOND);
const LATE_CANARY = () => node('late-canary', 2 * SECOND, { canary: 'yes' });
const ALL = [OLD, LAST, LATE, LATE_CANARY];

/** Who is there, how the rollout went so far, its canaries: who belongs to it, and when the newest of them was created. */
const ROWS: readonly (readonly [
  string,
  readonly (() => Member)[],
  Parameters<typeof cohortOf>[1],
  Parameters<typeof cohortOf>[2],
  readonly string[],
  number,
])[] = [
  ['begins with everybody', ALL, undefined, undefined, ['old', 'last', 'late', 'late-canary'], NOW + 2 * SECOND],
  ['begins with nobody', [], undefined, undefined, [], 0],
  ['does not know when it began', [OLD, LATE], {}, undefined, ['old', 'late'], NOW + SECOND],
  [
    'keeps those who were there, to the end of their second',
    ALL,
    { newest: NEWEST },
    undefined,
    ['old', 'last'],
    NOW + 999,
  ],
  ['has canaries by number', ALL, { newest: NEWEST }, { nodes: 1 }, ['old', 'last'], NOW + 999],
  [
    'takes canaries by selector whenever they join',
    ALL,
    { newest: NEWEST },
    CANARY,
    ['old', 'last', 'late-canary'],
    NOW + 999,
  ],
  [
    'begins again where nobody is left',
    [LATE, LATE_CANARY],
    { newest: NEWEST },
    CANARY,
    ['late', 'late-canary'],
    NOW + 2 * SECOND,
  ],
];

describe('a rollout', () => {
  for (const [name, all, before, canary, names, newest] of ROWS) {
    it(name, () => {
      const there = all.map((member) => member());
      const cohort = cohortOf(there, before, canary);
      assert.deepEqual(
        cohort.members.map((each) => each.node.name),
        names,
      );
      assert.deepEqual([...cohort.names], names);
      assert.equal(cohort.newest, newest);
    });
  }
});
