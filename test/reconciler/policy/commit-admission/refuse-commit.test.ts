import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { Lineage, SignatureVerdict } from '#reconciler/policy/commit-snapshot.ts';
import { massChangeOf } from '#reconciler/policy/commit-admission/mass-change.ts';
import { judgeCommit, judgeSigner, type RewritePolicy } from '#reconciler/policy/commit-admission/refuse-commit.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

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
  of: Fleet = fleet,
  lineage: Lineage = 'descendant',
  policy: RewritePolicy = 'refuse',
): string {
  const desired = desiredState(candidate, of, () => []);
  const verdict = judgeCommit({ lineage, repo: candidate.repo, desired }, policy, of);
  return verdict.accepted ? 'taken up' : verdict.reason;
}

/** A pool that keeps only the nodes with these names. */
const keeping = (...kept: readonly string[]): ReturnType<typeof validPool> =>
  validPool('workers', 110, { nodeSelector: { matchExpressions: [{ key: 'name', operator: 'In', values: kept }] } });
const named = {
  ...fleet,
  nodes: new Map(nodes.map((node) => [node.name, { ...node, labels: { name: node.name } }])),
  pools: new Map([['workers', poolInCluster(keeping(...names))]]),
};
const allowing = (candidate: CommitInForce, maxUnassign: number | string): CommitInForce => ({
  ...candidate,
  repo: { ...candidate.repo, cluster: { ...candidate.repo.cluster, maxUnassign } },
});

/** The pool keeps two nodes of ten by now; the others still have its config. */
const leaving = { ...named, pools: new Map([['workers', poolInCluster(keeping('a', 'b'))]]) };
/** The pool is there for as long as nodes remember it, and wants no config of them any more. */
const retiring = {
  ...fleet,
  pools: new Map([['workers', { ...poolInCluster(workers), status: { phase: 'Progressing' as const } }]]),
};

const limited = (candidate: CommitInForce, maxChange: number | string): CommitInForce => ({
  ...candidate,
  repo: { ...candidate.repo, cluster: { ...candidate.repo.cluster, maxChange } },
});
const changed = validPool('workers', 120);
/** The pool's config is another one already, and three of its nodes have it. */
const midway = {
  ...fleet,
  kubeletNodes: new Map(
    nodes.map((node, index) => [node.name, settledNode(node, index < 3 ? changed : workers)] as const),
  ),
  pools: new Map([['workers', poolInCluster(changed)]]),
};
/** Five nodes of the ten are in a pool of their own from now on. */
const half = names.slice(5);
const split = (maxPods: number): CommitInForce =>
  commit(
    COMMIT_B,
    workers,
    validPool('other', maxPods, {
      priority: 1,
      nodeSelector: { matchExpressions: [{ key: 'name', operator: 'In', values: half }] },
    }),
  );
const both = {
  ...fleet,
  nodes: new Map(nodes.map((node) => [node.name, { ...node, labels: { name: node.name, pool: 'workers' } }])),
};

const CHANGE = commit(COMMIT_B, changed);
const SAME = commit(COMMIT_B, workers);
const EMPTY = commit(COMMIT_B);
const OTHER = commit(COMMIT_B, validPool('other', 1));
const BROKEN = commit(COMMIT_B, invalidPool('workers'));
const LOST_POOLS = { ...fleet, pools: new Map() };
/** The pool selects that many of the ten nodes no more. */
const lettingGo = (count: number): CommitInForce => commit(COMMIT_B, keeping(...names.slice(count)));
const replacing = (maxPods: number): CommitInForce =>
  commit(COMMIT_B, validPool('workers', maxPods, { apply: 'replace' }));
const CHANGED = { name: changed.configName, sha256: changed.sha256 };
/** The fleet, with other KubeletNodes. */
const having = (kubeletNodeOf: (node: NodeView, index: number) => KubeletNode): Fleet => ({
  ...fleet,
  kubeletNodes: new Map(nodes.map((node, index) => [node.name, kubeletNodeOf(node, index)])),
});
const others = names.map((name) => nodeView(`other-${name}`, 'nobody'));
const besideOthers = new Map([...fleet.nodes, ...others.map((node) => [node.name, node] as const)]);
const besideIdle = new Map([...named.kubeletNodes, ...others.map((node) => [node.name, idleNode(node)] as const)]);
const { spec: _, ...withoutSpec } = settledNode(nodeView('gone', 'workers'), workers);
const besideGone = new Map([...fleet.kubeletNodes, ['gone', withoutSpec] as const]);
/** A node without a status, and one without a KubeletNode. */
const silentTwo = {
  ...fleet,
  nodes: new Map([...fleet.nodes].slice(0, 2)),
  kubeletNodes: new Map([['a', { metadata: { name: 'a' }, spec: {} }]]),
};

const rows: readonly (readonly [string, CommitInForce, string, Fleet?, Lineage?, RewritePolicy?])[] = [
  ['an ordinary commit', CHANGE, 'taken up'],
  ['a rewritten branch', SAME, 'history-rewritten', fleet, 'rewritten'],
  ['a rewritten branch that is to be followed', SAME, 'taken up', fleet, 'rewritten', 'follow'],
  ['an emptied repository', EMPTY, 'no-pools'],
  ['an emptied repository that allows everything', allowing(EMPTY, '100%'), 'no-pools'],
  ['an empty repository in a cluster that never had one', EMPTY, 'taken up', fleetOf({ nodes }), 'first'],
  ['a commit that lets two of ten nodes go', lettingGo(2), 'taken up', named],
  ['a commit that lets three of ten nodes go', lettingGo(3), 'unassigns-too-many', named],
  ['the same with an allowance in it', allowing(lettingGo(3), 3), 'taken up', named],
  ['a commit that allows no node to go', allowing(lettingGo(1), '0%'), 'unassigns-too-many', named],
  [
    'a commit while eight of ten nodes leave, which an earlier one let go',
    commit(COMMIT_B, keeping('a', 'b')),
    'taken up',
    leaving,
  ],
  [
    'a commit that lets a ninth go, where none may',
    allowing(commit(COMMIT_B, keeping('a')), 0),
    'unassigns-too-many',
    leaving,
  ],
  ['a commit while the nodes of a pool leave that was taken from git', OTHER, 'taken up', retiring],
  ['a commit that lets all nodes go while the pools are lost', OTHER, 'unassigns-too-many', LOST_POOLS],
  ['a commit with a broken pool, whose nodes keep what they have', BROKEN, 'taken up'],
  [
    'a commit with a broken pool that the cluster has lost, whose nodes keep what they have as well',
    BROKEN,
    'taken up',
    LOST_POOLS,
  ],
  ['a commit that changes every node, where nothing limits it', CHANGE, 'taken up'],
  ['one that changes every node, and nine of ten are allowed', limited(CHANGE, '99%'), 'changes-too-many'],
  ['one that changes as many as are allowed', limited(CHANGE, 10), 'taken up'],
  ['one that changes one node more', limited(CHANGE, 9), 'changes-too-many'],
  ['one that changes no meaning, where nothing may change', limited(SAME, 0), 'taken up'],
  ['one that lays the same config over nodes in another way', limited(replacing(110), '50%'), 'changes-too-many'],
  ['a broken pool, where nothing may change', limited(BROKEN, 0), 'taken up'],
  ['the first config of ten nodes', limited(SAME, 0), 'taken up', fleetOf({ nodes }), 'first'],
  [
    'another config before any node was told the first one',
    limited(CHANGE, 0),
    'taken up',
    having((node) => idleNode(node)),
  ],
  [
    'another config beside nodes that have just joined, of which none had the old one',
    limited(CHANGE, 3),
    'taken up',
    having((node, index) => (index < 3 ? settledNode(node, workers) : idleNode(node))),
  ],
  [
    'another config while the orders of ten nodes are lost, which run the old one',
    limited(CHANGE, 3),
    'changes-too-many',
    having((node) => ({ ...settledNode(node, workers), spec: {} })),
  ],
  [
    'another config while the pools are lost, whose nodes have the old one',
    limited(CHANGE, 3),
    'changes-too-many',
    LOST_POOLS,
  ],
  ['nodes that move to another pool with another config', limited(split(120), 4), 'changes-too-many', both],
  ['nodes that move to another pool with the same config', limited(split(110), 4), 'taken up', both],
  ['the way back from a rollout that three nodes of ten took part in', limited(SAME, 3), 'taken up', midway],
  ['the same where two are allowed', limited(SAME, 2), 'changes-too-many', midway],
  [
    'an emptied repository in a cluster that lost its pools, and whose nodes have configs',
    EMPTY,
    'no-pools',
    LOST_POOLS,
  ],
  [
    'an emptied repository in a cluster with a pool that no node has a config of',
    EMPTY,
    'no-pools',
    { ...fleet, kubeletNodes: new Map() },
  ],
  [
    'a commit that lets two of ten nodes go beside as many that never had a config',
    lettingGo(3),
    'unassigns-too-many',
    { ...named, kubeletNodes: besideIdle },
  ],
  [
    'a commit beside KubeletNodes of nodes that are gone, and of nodes without a spec',
    CHANGE,
    'taken up',
    { ...fleet, kubeletNodes: besideGone },
  ],
  [
    'another config beside a node without a status and one without a KubeletNode, where nothing may change',
    limited(CHANGE, 0),
    'taken up',
    silentTwo,
  ],
  [
    'a config that ten nodes run already, whose orders are lost and who do not say how it is laid over theirs',
    limited(CHANGE, 3),
    'taken up',
    having((node) => ({ ...settledNode(node, changed, { active: CHANGED }), spec: {} })),
  ],
  [
    'the same config, laid over theirs in another way',
    limited(replacing(120), 3),
    'changes-too-many',
    having((node) => ({ ...settledNode(node, changed), spec: {} })),
  ],
  [
    'another config beside ten nodes of no pool, of which none counts',
    limited(CHANGE, '60%'),
    'changes-too-many',
    { ...fleet, nodes: besideOthers },
  ],
  ['a pool deleted from git', OTHER, 'unassigns-too-many'],
];

describe('a new commit', () => {
  for (const [what, candidate, expected, of, lineage, policy] of rows) {
    it(`${what}: ${expected}`, () => assert.equal(judge(candidate, of, lineage, policy), expected));
  }

  it('that changes too much is refused with the number, the pools, and what to do', () => {
    const candidate = limited(commit(COMMIT_B, changed), '50%');
    const desired = desiredState(candidate, fleet, () => []);
    const verdict = judgeCommit({ lineage: 'descendant', repo: candidate.repo, desired }, 'refuse', fleet);
    assert.deepEqual(verdict, {
      accepted: false,
      reason: 'changes-too-many',
      pools: ['workers'],
      message:
        'it would give 10 of 10 nodes in pools another config (workers 10), and maxChange allows 5. To allow it: merge a ' +
        "commit that raises spec.maxChange in the cluster's file first, and this one once that is in force. Where this one is merged already, revert it before",
    });
  });

  const file = 'infra/kubelet/clusters/prod.yaml';
  for (const [limit, candidate, of] of [
    ['maxChange', limited(commit(COMMIT_B, changed), '50%'), fleet],
    ['maxUnassign', commit(COMMIT_B, keeping('a')), named],
  ] as const) {
    it(`that goes beyond ${limit} is refused with the file that has the limit`, () => {
      const repo = { ...candidate.repo, cluster: { ...candidate.repo.cluster, file } };
      const desired = desiredState({ ...candidate, repo }, of, () => []);
      const verdict = judgeCommit({ lineage: 'descendant', repo, desired }, 'refuse', of);
      assert.ok(!verdict.accepted);
      assert.ok(verdict.message.includes(`a commit that raises spec.${limit} in ${file} first`), verdict.message);
    });
  }
});

describe('the pools that a commit changes', () => {
  it('are the largest first, and then by their names', () => {
    const change = massChangeOf(['b', 'a', 'c', 'c', 'd', 'd', 'd'], 10, 1);
    const pools = [
      ['d', 3],
      ['c', 2],
      ['a', 1],
      ['b', 1],
    ];
    assert.deepEqual(change, { changed: 7, total: 10, allowed: 1, pools });
    const inOne = ['a', 'a', 'a', 'a', 'a', 'a'];
    assert.equal(massChangeOf(inOne, 6, null), undefined, 'a pool that has nearly all nodes may be changed');
    assert.equal(massChangeOf([...inOne.slice(1), 'b'], 6, null)?.changed, 6);
    assert.equal(massChangeOf(inOne, 6, '100%'), undefined);
  });
});

describe('a signature', () => {
  it('is enough where it is trusted, and where none is asked for', () => {
    assert.deepEqual(judgeSigner({ verdict: 'trusted', signer: 'me', key: 'mine' }), { accepted: true });
    assert.deepEqual(judgeSigner({ verdict: 'not-required' }), { accepted: true });
  });

  it('is missing, or not to be trusted', () => {
    const reasonOf = (verdict: SignatureVerdict): string | undefined => {
      const judged = judgeSigner(verdict);
      return judged.accepted ? undefined : judged.reason;
    };
    assert.equal(reasonOf({ verdict: 'unsigned' }), 'commit-unsigned');
    assert.equal(reasonOf({ verdict: 'untrusted', because: 'is of nobody' }), 'commit-untrusted');
    assert.throws(() => judgeSigner({ verdict: 'new' } as unknown as SignatureVerdict));
  });
});
