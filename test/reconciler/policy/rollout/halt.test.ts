import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import { withForgivenFailures } from '#reconciler/policy/rollout/targets.ts';
import { failedMembers, haltOf, haltThreshold, releaseOf, releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type {
  Amount,
  AnalysisStatus,
  Halt,
  KubeletPoolStatus,
  Released,
  RolloutStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const AT = '2026-11-21T12:00:00Z';
const EARLIER = '2026-11-20T12:00:00Z';

function poolWith(
  threshold: Amount = 1,
  maxUnavailable: Amount = '100%',
  action: 'halt' | 'revert' = 'halt',
): DesiredPool {
  const rollout = { ...poolSpec().rollout, maxUnavailable, onFailure: { threshold, action } };
  return desiredPool(validPool('workers', 120, { rollout }));
}

const GIVEN = validPool('workers', 120);
const POOL = poolWith();
const RETIRING: DesiredPool = { ...POOL, origin: 'retiring', config: null };

/** A group of which the first nodes failed. */
function groupOf(failed: number, nodes: number, pool: DesiredPool | null = POOL): Group {
  const members = Array.from({ length: nodes }, (_, index) => {
    const node = nodeView(`n${index}`, 'workers');
    return memberOf(node, index < failed ? failedNode(node, GIVEN) : settledNode(node, GIVEN), targetOf(pool), 0, NOW);
  });
  return { pool, members };
}

const HALT: Halt = {
  config: GIVEN.configName,
  sha256: GIVEN.sha256,
  at: EARLIER,
  message: 'it failed',
  action: 'halt',
};
const released = (haltedAt: string, sha256 = GIVEN.sha256): Released => ({ sha256, haltedAt, failures: [] });

const rolled = (way: Partial<RolloutStatus> = {}): RolloutStatus => ({
  configName: GIVEN.configName,
  sha256: GIVEN.sha256,
  startedAt: EARLIER,
  waves: [],
  ...way,
});

describe('the failures that stop a pool', () => {
  const rows: readonly (readonly [Amount, Amount, number, number])[] = [
    [1, '100%', 10, 1],
    [3, '100%', 10, 3],
    ['25%', '100%', 10, 3],
    ['1%', '100%', 10, 1],
    [5, 2, 10, 2],
    [5, 0, 10, 1],
    [5, '30%', 10, 3],
  ];
  for (const [threshold, maxUnavailable, nodes, expected] of rows) {
    it(`are ${expected} of ${nodes} nodes by a threshold of ${threshold} and maxUnavailable ${maxUnavailable}`, () => {
      const pool = poolWith(threshold, maxUnavailable);
      assert.equal(haltThreshold(groupOf(0, nodes, pool)), expected);
      assert.equal(haltOf(groupOf(expected - 1, nodes, pool), undefined, null, AT), null);
      assert.equal(haltOf(groupOf(expected, nodes, pool), undefined, null, AT)?.at, AT);
    });
  }

  it('are one where nobody knows the pool', () => assert.equal(haltThreshold({ pool: null, members: [] }), 1));

  it('are those of nodes as well whose agents fell silent since', () => {
    const { pool, members } = groupOf(2, 9, poolWith(3));
    const gone = nodeView('n9', 'workers', { ready: false });
    const failed = failedNode(gone, GIVEN);
    const silent = { ...failed, status: { ...failed.status, heartbeat: EARLIER } };
    const group = { pool, members: [...members, memberOf(gone, silent, targetOf(pool), 0, NOW)] };
    assert.equal(haltOf(group, undefined, null, AT)?.at, AT);
    assert.deepEqual(
      failedMembers(group.members).map(({ node }) => node.name),
      ['n0', 'n1', 'n9'],
    );
  });

  it('are none that a person forgave', () => {
    const group = groupOf(2, 9);
    const failures = failedMembers(group.members).map(({ node, failedAt = '' }) => ({ node: node.name, at: failedAt }));
    const forgiven = withForgivenFailures(group, { sha256: GIVEN.sha256, haltedAt: EARLIER, failures });
    assert.deepEqual([failures.length, failedMembers(forgiven.members)], [2, []]);
  });

  it('are none of nodes that only fail to go back', () => {
    const node = nodeView('a', 'workers');
    const broken = assignedNode(node, GIVEN, { phase: 'Broken' });
    const { spec: _, ...rest } = broken;
    assert.deepEqual(failedMembers([memberOf(node, { ...rest, spec: {} }, null, 0, NOW)]), []);
  });
});

describe('a halt', () => {
  const before = { halt: HALT };
  const rows: readonly (readonly [
    string,
    () => Group,
    KubeletPoolStatus | undefined,
    Released | null,
    string | null,
  ])[] = [
    ['lasts though nobody failed since', () => groupOf(0, 3), before, null, EARLIER],
    ['ends with another payload', () => groupOf(0, 3), { halt: { ...HALT, sha256: 'x' } }, null, null],
    ['ends where it is released', () => groupOf(0, 3), before, released(EARLIER), null],
    ['lasts where an earlier one was released', () => groupOf(0, 3), before, released(AT), EARLIER],
    ['is none of a pool that leaves git', () => groupOf(3, 3, RETIRING), before, null, null],
    ['is none of nodes whose pool nobody knows', () => ({ pool: null, members: [] }), before, null, null],
  ];
  for (const [name, group, status, release, at] of rows) {
    it(name, () => assert.equal(haltOf(group(), status, release, AT)?.at ?? null, at));
  }

  it('comes of canaries that are worse, unless a person let them go on', () => {
    const verdictOf = (verdict: AnalysisStatus['verdict'], sha256 = GIVEN.sha256): KubeletPoolStatus => ({
      rollout: {
        configName: GIVEN.configName,
        sha256,
        startedAt: EARLIER,
        waves: [],
        analysis: { verdict, since: EARLIER, message: '2 cores for the kubelet' },
      },
    });
    const { message, ...halt } = haltOf(groupOf(0, 9), verdictOf('fail'), null, AT) ?? HALT;
    assert.deepEqual(halt, { config: POOL.config?.name, sha256: GIVEN.sha256, at: AT, action: 'halt' });
    assert.match(message, /made its canaries worse: 2 cores for the kubelet; push a fix or a revert/);
    assert.equal(haltOf(groupOf(0, 9), verdictOf('fail'), released(EARLIER), AT), null);
    assert.equal(haltOf(groupOf(0, 9), verdictOf('fail', 'x'), null, AT), null, 'another payload');
    for (const verdict of ['pass', 'waiting', 'suspect', 'unknown'] as const) {
      assert.equal(haltOf(groupOf(0, 9), verdictOf(verdict), null, AT), null);
    }
  });

  it('says which nodes failed, by which threshold, and what is done about it', () => {
    const { message: few, ...halt } = haltOf(groupOf(2, 9, poolWith(2)), undefined, null, AT) ?? HALT;
    assert.deepEqual(halt, { config: POOL.config?.name, sha256: GIVEN.sha256, at: AT, action: 'halt' });
    assert.match(few, /failed on n0, n1 \(threshold 2\); push a fix or a revert/);
    const many = haltOf(groupOf(7, 9, poolWith(1, 1, 'revert')), undefined, null, AT);
    assert.match(many?.message ?? '', /n3, n4 and 2 more \(threshold 1\); the nodes that run it go back/);
    assert.equal(many?.action, 'revert');
  });

  it('names the budget rather than a threshold that pool.yaml does not have, where failures fill it first', () => {
    const one = haltOf(groupOf(1, 9, poolWith(2, 1)), undefined, null, AT);
    assert.match(
      one?.message ?? '',
      /failed on n0 \(1 failure stops it: no place of maxUnavailable is left\); push a fix/,
    );
    const two = haltOf(groupOf(2, 9, poolWith(3, 2)), undefined, null, AT);
    assert.match(
      two?.message ?? '',
      /failed on n0, n1 \(2 failures stop it: no place of maxUnavailable is left\); push a fix/,
    );
    const both = haltOf(groupOf(2, 9, poolWith(2, 2)), undefined, null, AT);
    assert.match(both?.message ?? '', /failed on n0, n1 \(threshold 2\); push a fix/);
  });
});

describe('the release of a halt', () => {
  const asked = releaseValue(HALT);
  const failures = [{ node: 'n0', at: AT }];
  const rows: readonly (readonly [
    string,
    () => Group,
    KubeletPoolStatus | undefined,
    string | undefined,
    Released | null,
  ])[] = [
    ['forgives the failures of before', () => groupOf(1, 3), { halt: HALT }, asked, { ...released(EARLIER), failures }],
    ['is for one halt, and no later one', () => groupOf(1, 3), { halt: { ...HALT, at: AT } }, asked, null],
    ['is for one payload', () => groupOf(1, 3), { halt: { ...HALT, sha256: 'x' } }, `x@${EARLIER}`, null],
    ['is nothing where nothing is halted', () => groupOf(1, 3), {}, asked, null],
    ['is nothing where nobody asked', () => groupOf(1, 3), { halt: HALT }, undefined, null],
    ['is nothing in a pool that leaves git without a status', () => groupOf(1, 3, RETIRING), undefined, asked, null],
    [
      'lasts as long as the payload',
      () => groupOf(1, 3),
      { released: released(EARLIER) },
      undefined,
      released(EARLIER),
    ],
    [
      'lasts through its rollout',
      () => groupOf(1, 3),
      { released: released(EARLIER), rollout: rolled() },
      undefined,
      released(EARLIER),
    ],
    [
      'ends where the same payload is applied in another way',
      () => groupOf(1, 3),
      { released: released(EARLIER), rollout: rolled({ apply: 'replace' }) },
      undefined,
      null,
    ],
    ['ends with the payload', () => groupOf(1, 3), { released: released(EARLIER, 'x') }, undefined, null],
    [
      'is nothing in a pool that leaves git',
      () => groupOf(1, 3, RETIRING),
      { halt: HALT, released: released(EARLIER) },
      asked,
      null,
    ],
  ];
  for (const [name, group, status, value, expected] of rows) {
    it(name, () => assert.deepEqual(releaseOf(group(), status, value), expected));
  }

  it('is asked for by payload and time', () => assert.equal(asked, `${GIVEN.sha256}@${EARLIER}`));
});
