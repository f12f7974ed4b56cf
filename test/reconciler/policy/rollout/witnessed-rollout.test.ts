import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasProved } from '#reconciler/policy/rollout/node-progress.ts';
import { memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { witnessedRollout } from '#reconciler/policy/rollout/witnessed-rollout.ts';
import type { RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { assignedNode, desiredPool, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

const AT = toTimestamp(NOW - 3_600_000);
const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const said = (name: string, nodes: number, more: Partial<WaveStatus> = {}): WaveStatus => ({
  name,
  nodes,
  state: 'done',
  startedAt: AT,
  doneAt: AT,
  ...more,
});
const asked = { pausedAt: AT };
const approved = { ...asked, approvedAt: AT, approvedBy: 'ada' };
const OVER = { configName: NEXT.configName, sha256: NEXT.sha256, startedAt: AT, finishedAt: AT } as const;

/** A pool of ten nodes, so many of which have proven the payload, and so many more try it. */
function shown(proven: number, trying: number, waves: readonly WaveStatus[]): RolloutStatus {
  const { spec } = NEXT;
  const rollout = {
    ...spec.rollout,
    canary: { nodes: 2, pause: true },
    steps: [{ nodes: 4 }, { nodes: 6, pause: true }],
  };
  const pool = desiredPool({ ...NEXT, spec: { ...spec, rollout } });
  const members = Array.from({ length: 10 }, (_, index) => {
    const view = nodeView(`n${index}`, 'workers', { createdAt: NOW - 48 * 3_600_000 });
    const tries = index < proven + trying ? assignedNode(view, NEXT, { phase: 'Trial' }) : settledNode(view, OLD);
    return memberOf(view, index < proven ? settledNode(view, NEXT) : tries, targetOf(pool), 0, NOW);
  });
  const found: RolloutStatus = { ...OVER, waves, analysis: { verdict: 'pass', since: AT, message: '' } };
  return witnessedRollout(found, { pool, members }, (each) => hasProved(each.kubeletNode, each.target));
}

const ASKED = [said('canary', 2, asked), said('step 1', 4), said('step 2', 6, asked), said('rest', 10)];
const ALL = [said('canary', 2, approved), said('step 1', 4), said('step 2', 6, asked), said('rest', 10)];
const done = ({ waves }: RolloutStatus): readonly string[] =>
  waves.flatMap(({ name, doneAt }) => (doneAt === undefined ? [] : [name]));
describe('a rollout that a leader finds, and did not write', () => {
  const rows: readonly (readonly [string, number, readonly string[]])[] = [
    ['more than half of the nodes, and than any wave with a pause names, have it', 7, ALL.map(({ name }) => name)],
    ['as many have it as a wave names whose pause nobody approved', 6, ['canary', 'step 1', 'step 2']],
    ['hardly a node has it', 1, []],
  ];
  for (const [when, proven, expected] of rows) {
    it(`is ${expected.length === 4 ? '' : 'not '}over where ${when}`, () => {
      const found = shown(proven, 0, ALL);
      assert.deepEqual(done(found), expected);
      assert.equal(found.finishedAt, expected.length === 4 ? AT : undefined);
      assert.equal(found.analysis?.verdict, expected.length === 4 ? 'pass' : undefined);
    });
  }

  it('is not over because it names no waves, or not all', () => {
    for (const waves of [[], [said('rest', 10)], [said('canary', 1, asked)]]) {
      const found = shown(3, 0, waves);
      assert.equal(found.finishedAt, undefined);
      assert.equal(done(found).includes('rest'), false);
    }
  });

  it('goes on after a pause that the record says somebody approved', () => {
    const { waves } = shown(4, 0, ALL);
    assert.deepEqual(waves[0], ALL[0]);
    assert.deepEqual(done(shown(4, 0, ALL)), ['canary', 'step 1']);
    assert.deepEqual(done(shown(4, 0, ASKED)), ['canary']);
  });

  it('goes past no pause by a wave that is said to have begun', () => {
    const began = ({ waves }: RolloutStatus): readonly string[] =>
      waves.flatMap(({ name, startedAt }) => (startedAt === undefined ? [] : [name]));
    assert.deepEqual(began(shown(2, 0, ASKED)), ['canary']);
    assert.deepEqual(began(shown(2, 0, [said('rest', 10)])), []);
    assert.deepEqual(began(shown(2, 2, ALL)), ['canary', 'step 1', 'step 2']);
  });
});
