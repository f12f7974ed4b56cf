import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrainView, NodeView } from '#reconciler/policy/fleet.ts';
import { drainFirst } from '#reconciler/policy/rollout/drain-timeout.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import { idleNode, nodeView, NOW } from '../../../support/fleet.ts';

const MINUTE = 60_000;
const drainedSince = (at: number): Partial<NodeView> => ({ cordoned: true, drain: { config: 'new', at } });
const givenUp = (config: string, at: number, times = 1): Partial<NodeView> => ({ drainFailed: { config, at, times } });

interface Case {
  readonly node?: Partial<NodeView>;
  /** Ten minutes where a row says nothing. */
  readonly timeout?: string | undefined;
  readonly view?: DrainView;
}

/** What the node is like, what comes next, and a part of the reason. */
const ROWS: readonly (readonly [string, Case, string | null, RegExp?])[] = [
  ['not drained yet', {}, 'cordon'],
  ['drained for exactly the timeout', { node: drainedSince(NOW - 10 * MINUTE) }, 'evict', /told to leave/],
  ['drained for longer', { node: drainedSince(NOW - 10 * MINUTE - 1) }, 'gave up', /did not leave in time/],
  ['drained by a timeout that cannot be read', { timeout: 'x', node: drainedSince(NOW - 1) }, 'gave up'],
  [
    'drained without a timeout, for ten minutes',
    { timeout: undefined, node: drainedSince(NOW - 10 * MINUTE) },
    'evict',
  ],
  [
    'drained without a timeout, for longer than ten minutes',
    { timeout: undefined, node: drainedSince(NOW - 10 * MINUTE - 1) },
    'gave up',
  ],
  ['empty', { node: drainedSince(NOW - 1), view: { since: NOW - 1, drained: true, because: 'it is empty' } }, null],
  ['uncordoned by another', { node: { ...drainedSince(NOW), cordoned: false } }, 'gave up', /uncordoned it/],
  [
    'given up less than half an hour ago',
    { node: givenUp('new', NOW - 30 * MINUTE + 1) },
    'hold',
    /given up at 2026-11-21T11:30:00Z; it is drained again from 2026-11-21T12:00:00Z on/,
  ],
  ['given up half an hour ago', { node: givenUp('new', NOW - 30 * MINUTE) }, 'cordon'],
  ['given up for another config, less than half an hour ago', { node: givenUp('x', NOW - 30 * MINUTE + 1) }, 'hold'],
  [
    'given up for the second time less than an hour ago',
    { node: givenUp('new', NOW - 60 * MINUTE + 1, 2) },
    'hold',
    /2 in a row/,
  ],
  ['given up for the second time an hour ago', { node: givenUp('new', NOW - 60 * MINUTE, 2) }, 'cordon'],
  ['given up for the sixth time less than 16 hours ago', { node: givenUp('new', NOW - 960 * MINUTE + 1, 6) }, 'hold'],
  ['given up for the seventh time less than a day ago', { node: givenUp('new', NOW - 1440 * MINUTE + 1, 7) }, 'hold'],
  ['given up for the thousandth time a day ago', { node: givenUp('new', NOW - 1440 * MINUTE, 1000) }, 'cordon'],
  [
    'drained again after one that was given up, and goes on',
    { node: { ...drainedSince(NOW - MINUTE), ...givenUp('new', NOW - 5 * MINUTE) } },
    'evict',
  ],
];

describe('the drain of a node', () => {
  for (const [name, given, expected, because = /^/] of ROWS) {
    it(`that is ${name}: ${expected ?? 'nothing more'}`, () => {
      const node = nodeView('a', 'workers', given.node);
      const member = memberOf(node, { ...idleNode(node), status: {} }, null, 0, NOW);
      const timeout = 'timeout' in given ? given.timeout : '10m';
      const verdict = drainFirst(member, 'new', '', given.view, timeout, NOW);
      if (verdict === null || expected === null) {
        assert.equal(verdict, expected);
        return;
      }
      assert.ok(verdict.verdict === 'drain' || verdict.verdict === 'hold');
      const isGivenUp = verdict.verdict === 'hold' && verdict.gaveUp === true;
      assert.equal(verdict.verdict === 'drain' ? verdict.stage : isGivenUp ? 'gave up' : 'hold', expected);
      assert.match(verdict.because, because);
      if (verdict.verdict === 'hold') assert.equal(verdict.hold, isGivenUp ? 'disruption' : 'drained-in-vain');
    });
  }
});
