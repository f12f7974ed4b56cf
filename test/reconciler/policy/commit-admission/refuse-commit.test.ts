import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
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
  lineage: Lineage = 'descendant',
  policy: RewritePolicy = 'refuse',
  of: Fleet = fleet,
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

const rows: readonly (readonly [string, () => string, string])[] = [
  ['an ordinary commit', () => judge(commit(COMMIT_B, validPool('workers', 120))), 'taken up'],
  ['a rewritten branch', () => judge(commit(COMMIT_B, workers), 'rewritten'), 'history-rewritten'],
  [
    'a rewritten branch that is to be followed',
    () => judge(commit(COMMIT_B, workers), 'rewritten', 'follow'),
    'taken up',
  ],
  ['an emptied repository', () => judge(commit(COMMIT_B)), 'no-pools'],
  ['an emptied repository that allows everything', () => judge(allowing(commit(COMMIT_B), '100%')), 'no-pools'],
  [
    'an empty repository in a cluster that never had one',
    () => judge(commit(COMMIT_B), 'first', 'refuse', fleetOf({ nodes })),
    'taken up',
  ],
  [
    'a commit that lets two of ten nodes go',
    () => judge(commit(COMMIT_B, keeping(...names.slice(2))), 'descendant', 'refuse', named),
    'taken up',
  ],
  [
    'a commit that lets three of ten nodes go',
    () => judge(commit(COMMIT_B, keeping(...names.slice(3))), 'descendant', 'refuse', named),
    'unassigns-too-many',
  ],
  [
    'the same with an allowance in it',
    () => judge(allowing(commit(COMMIT_B, keeping(...names.slice(3))), 3), 'descendant', 'refuse', named),
    'taken up',
  ],
  [
    'a commit that allows no node to go',
    () => judge(allowing(commit(COMMIT_B, keeping(...names.slice(1))), '0%'), 'descendant', 'refuse', named),
    'unassigns-too-many',
  ],
  [
    'a commit while eight of ten nodes leave, which an earlier one let go',
    () => judge(commit(COMMIT_B, keeping('a', 'b')), 'descendant', 'refuse', leaving),
    'taken up',
  ],
  [
    'a commit that lets a ninth go, where none may',
    () => judge(allowing(commit(COMMIT_B, keeping('a')), 0), 'descendant', 'refuse', leaving),
    'unassigns-too-many',
  ],
  [
    'a commit while the nodes of a pool leave that was taken from git',
    () => judge(commit(COMMIT_B, validPool('other', 1)), 'descendant', 'refuse', retiring),
    'taken up',
  ],
  [
    'a commit that lets all nodes go while the pools are lost',
    () => judge(commit(COMMIT_B, validPool('other', 1)), 'descendant', 'refuse', { ...fleet, pools: new Map() }),
    'unassigns-too-many',
  ],
  [
    'a commit with a broken pool, whose nodes keep what they have',
    () => judge(commit(COMMIT_B, invalidPool('workers'))),
    'taken up',
  ],
  [
    'a commit with a broken pool that the cluster has lost, whose nodes keep what they have as well',
    () => judge(commit(COMMIT_B, invalidPool('workers')), 'descendant', 'refuse', { ...fleet, pools: new Map() }),
    'taken up',
  ],
  ['a commit that changes every node, where nothing limits it', () => judge(commit(COMMIT_B, changed)), 'taken up'],
  [
    'one that changes every node, and nine of ten are allowed',
    () => judge(limited(commit(COMMIT_B, changed), '99%')),
    'changes-too-many',
  ],
  ['one that changes as many as are allowed', () => judge(limited(commit(COMMIT_B, changed), 10)), 'taken up'],
  ['one that changes one node more', () => judge(limited(commit(COMMIT_B, changed), 9)), 'changes-too-many'],
  [
    'one that changes no meaning, where nothing may change',
    () => judge(limited(commit(COMMIT_B, workers), 0)),
    'taken up',
  ],
  [
    'one that lays the same config over nodes in another way',
    () => judge(limited(commit(COMMIT_B, validPool('workers', 110, { apply: 'replace' })), '50%')),
    'changes-too-many',
  ],
  [
    'a broken pool, where nothing may change',
    () => judge(limited(commit(COMMIT_B, invalidPool('workers')), 0)),
    'taken up',
  ],
  [
    'the first config of ten nodes',
    () => judge(limited(commit(COMMIT_B, workers), 0), 'first', 'refuse', fleetOf({ nodes })),
    'taken up',
  ],
  [
    'another config before any node was told the first one',
    () =>
      judge(limited(commit(COMMIT_B, changed), 0), 'descendant', 'refuse', {
        ...fleet,
        kubeletNodes: new Map(nodes.map((node) => [node.name, idleNode(node)])),
      }),
    'taken up',
  ],
  [
    'another config beside nodes that have just joined, of which none had the old one',
    () =>
      judge(limited(commit(COMMIT_B, changed), 3), 'descendant', 'refuse', {
        ...fleet,
        kubeletNodes: new Map(
          nodes.map((node, index) => [node.name, index < 3 ? settledNode(node, workers) : idleNode(node)] as const),
        ),
      }),
    'taken up',
  ],
  [
    'another config while the orders of ten nodes are lost, which run the old one',
    () =>
      judge(limited(commit(COMMIT_B, changed), 3), 'descendant', 'refuse', {
        ...fleet,
        kubeletNodes: new Map(nodes.map((node) => [node.name, { ...settledNode(node, workers), spec: {} }])),
      }),
    'changes-too-many',
  ],
  [
    'another config while the pools are lost, whose nodes have the old one',
    () => judge(limited(commit(COMMIT_B, changed), 3), 'descendant', 'refuse', { ...fleet, pools: new Map() }),
    'changes-too-many',
  ],
  [
    'nodes that move to another pool with another config',
    () => judge(limited(split(120), 4), 'descendant', 'refuse', both),
    'changes-too-many',
  ],
  [
    'nodes that move to another pool with the same config',
    () => judge(limited(split(110), 4), 'descendant', 'refuse', both),
    'taken up',
  ],
  [
    'the way back from a rollout that three nodes of ten took part in',
    () => judge(limited(commit(COMMIT_B, workers), 3), 'descendant', 'refuse', midway),
    'taken up',
  ],
  [
    'the same where two are allowed',
    () => judge(limited(commit(COMMIT_B, workers), 2), 'descendant', 'refuse', midway),
    'changes-too-many',
  ],
  [
    'an emptied repository in a cluster that lost its pools, and whose nodes have configs',
    () => judge(commit(COMMIT_B), 'descendant', 'refuse', { ...fleet, pools: new Map() }),
    'no-pools',
  ],
  [
    'an emptied repository in a cluster with a pool that no node has a config of',
    () => judge(commit(COMMIT_B), 'descendant', 'refuse', { ...fleet, kubeletNodes: new Map() }),
    'no-pools',
  ],
  [
    'a commit that lets two of ten nodes go beside as many that never had a config',
    () => {
      const fresh = names.map((name) => nodeView(`new-${name}`, 'nobody'));
      const more = new Map([...named.kubeletNodes, ...fresh.map((node) => [node.name, idleNode(node)] as const)]);
      const candidate = commit(COMMIT_B, keeping(...names.slice(3)));
      return judge(candidate, 'descendant', 'refuse', { ...named, kubeletNodes: more });
    },
    'unassigns-too-many',
  ],
  [
    'a commit beside KubeletNodes of nodes that are gone, and of nodes without a spec',
    () => {
      const { spec: _, ...gone } = settledNode(nodeView('gone', 'workers'), workers);
      const kubeletNodes = new Map([...fleet.kubeletNodes, ['gone', gone as KubeletNode] as const]);
      return judge(commit(COMMIT_B, changed), 'descendant', 'refuse', { ...fleet, kubeletNodes });
    },
    'taken up',
  ],
  [
    'another config beside a node without a status and one without a KubeletNode, where nothing may change',
    () => {
      const [first, second] = nodes;
      const bare = { metadata: { name: first?.name ?? '' }, spec: {} };
      return judge(limited(commit(COMMIT_B, changed), 0), 'descendant', 'refuse', {
        ...fleet,
        nodes: new Map([first, second].flatMap((node) => (node === undefined ? [] : [[node.name, node] as const]))),
        kubeletNodes: new Map([[bare.metadata.name, bare]]),
      });
    },
    'taken up',
  ],
  [
    'a config that ten nodes run already, whose orders are lost and who do not say how it is laid over theirs',
    () =>
      judge(limited(commit(COMMIT_B, changed), 3), 'descendant', 'refuse', {
        ...fleet,
        kubeletNodes: new Map(
          nodes.map((node) => {
            const { configName: name, sha256 } = changed;
            return [node.name, { ...settledNode(node, changed, { active: { name, sha256 } }), spec: {} }] as const;
          }),
        ),
      }),
    'taken up',
  ],
  [
    'the same config, laid over theirs in another way',
    () =>
      judge(limited(commit(COMMIT_B, validPool('workers', 120, { apply: 'replace' })), 3), 'descendant', 'refuse', {
        ...fleet,
        kubeletNodes: new Map(nodes.map((node) => [node.name, { ...settledNode(node, changed), spec: {} }] as const)),
      }),
    'changes-too-many',
  ],
  [
    'another config beside ten nodes of no pool, of which none counts',
    () => {
      const others = names.map((name) => nodeView(`other-${name}`, 'nobody'));
      const all = new Map([...fleet.nodes, ...others.map((node) => [node.name, node] as const)]);
      return judge(limited(commit(COMMIT_B, changed), '60%'), 'descendant', 'refuse', { ...fleet, nodes: all });
    },
    'changes-too-many',
  ],
  ['a pool deleted from git', () => judge(commit(COMMIT_B, validPool('other', 1))), 'unassigns-too-many'],
];

describe('a new commit', () => {
  for (const [what, got, expected] of rows) {
    it(`${what}: ${expected}`, () => assert.equal(got(), expected));
  }

  it('that changes too much is refused with the number, the pools, and what to do', () => {
    const candidate = limited(commit(COMMIT_B, changed), '50%');
    const desired = desiredState(candidate, fleet, () => []);
    const verdict = judgeCommit({ lineage: 'descendant', repo: candidate.repo, desired }, 'refuse', fleet);
    assert.deepEqual(verdict, {
      accepted: false,
      reason: 'changes-too-many',
      message:
        'it would give 10 of 10 nodes in pools another config (workers 10), and maxChange allows 5. If this is meant, ' +
        "take it back, raise spec.maxChange in the cluster's file in a commit of its own, and commit it again once that one is in force",
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
      assert.ok(verdict.message.includes(`raise spec.${limit} in ${file} in a commit of its own`), verdict.message);
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
