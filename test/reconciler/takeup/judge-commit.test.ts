import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, desiredState } from '#reconciler/desired.ts';
import type { Fleet } from '#reconciler/fleet.ts';
import type { Lineage } from '#reconciler/git/source.ts';
import { judgeCommit, type RewritePolicy } from '#reconciler/takeup/judge-commit.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  invalidPool,
  nodeView,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
const workers = validPool('workers', 110);
const nodes = names.map((name) => nodeView(name, 'workers'));
const fleet = fleetOf({
  nodes,
  kubeletNodes: nodes.map((node) => settledNode(node, workers)),
  configSources: [configSource(workers)],
  pools: [poolInCluster(workers)],
});

function judge(
  candidate: CommitInForce,
  lineage: Lineage = 'descendant',
  policy: RewritePolicy = 'refuse',
  of: Fleet = fleet,
): string {
  const desired = desiredState(candidate, of, () => []);
  const takeUp = judgeCommit({ lineage, repo: candidate.repo, desired }, policy, of);
  return takeUp.takeUp ? 'taken up' : takeUp.reason;
}

/** A pool that keeps only the nodes with these names. */
const keeping = (...kept: readonly string[]): ReturnType<typeof validPool> =>
  validPool('workers', 110, { nodeSelector: { matchExpressions: [{ key: 'name', operator: 'In', values: kept }] } });
const named = { ...fleet, nodes: new Map(nodes.map((node) => [node.name, { ...node, labels: { name: node.name } }])) };
const allowing = (candidate: CommitInForce, maxUnassign: number | string): CommitInForce => ({
  ...candidate,
  repo: { ...candidate.repo, cluster: { ...candidate.repo.cluster, maxUnassign } },
});

const rows: readonly (readonly [string, string, string])[] = [
  ['an ordinary commit', judge(commit(COMMIT_B, validPool('workers', 120))), 'taken up'],
  ['a rewritten branch', judge(commit(COMMIT_B, workers), 'rewritten'), 'history-rewritten'],
  ['a rewritten branch that is to be followed', judge(commit(COMMIT_B, workers), 'rewritten', 'follow'), 'taken up'],
  ['an emptied repository', judge(commit(COMMIT_B)), 'no-pools'],
  ['an emptied repository that allows everything', judge(allowing(commit(COMMIT_B), '100%')), 'no-pools'],
  [
    'an empty repository in a cluster that never had one',
    judge(commit(COMMIT_B), 'first', 'refuse', fleetOf({ nodes })),
    'taken up',
  ],
  [
    'a commit that lets two of ten nodes go',
    judge(commit(COMMIT_B, keeping(...names.slice(2))), 'descendant', 'refuse', named),
    'taken up',
  ],
  [
    'a commit that lets three of ten nodes go',
    judge(commit(COMMIT_B, keeping(...names.slice(3))), 'descendant', 'refuse', named),
    'unassigns-too-many',
  ],
  [
    'the same with an allowance in it',
    judge(allowing(commit(COMMIT_B, keeping(...names.slice(3))), 3), 'descendant', 'refuse', named),
    'taken up',
  ],
  [
    'a commit that allows no node to go',
    judge(allowing(commit(COMMIT_B, keeping(...names.slice(1))), '0%'), 'descendant', 'refuse', named),
    'unassigns-too-many',
  ],
  [
    'a commit with a broken pool, whose nodes keep what they have',
    judge(commit(COMMIT_B, invalidPool('workers'))),
    'taken up',
  ],
  ['a pool deleted from git', judge(commit(COMMIT_B, validPool('other', 1))), 'unassigns-too-many'],
];

describe('a new commit', () => {
  for (const [what, got, expected] of rows) {
    it(`${what}: ${expected}`, () => assert.equal(got, expected));
  }
});
