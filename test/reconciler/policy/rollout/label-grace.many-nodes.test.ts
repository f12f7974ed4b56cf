import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import {
  holdForLabelGrace,
  isInGrace,
  LABEL_GRACE_MS,
  rememberLabelLosses,
} from '#reconciler/policy/rollout/label-grace.ts';
import { MOVED_SINCE_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { commit, COMMIT_B, fleetOf, idleNode, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

const OLD = validPool('workers', 110);
const SINCE = NOW - LABEL_GRACE_MS;
const lost = (since = SINCE, by: 'labels' | 'commit' = 'labels'): Partial<NodeView> => ({ unselected: { since, by } });
const moved = (to: string, by: 'labels' | 'commit' = 'labels'): Partial<NodeView> => ({
  poolChange: { to, since: SINCE, by },
});
const settled = (node: NodeView): KubeletNode => settledNode(node, OLD);
const SAME = { ...OLD, name: 'same' };
const FILE = 'infra/clusters/prod.yaml';

interface Case {
  readonly view: Partial<NodeView>;
  /** How many of ten nodes it is so of. */
  readonly count: number;
  /** What the KubeletNode of each of them is; null for none. */
  readonly is?: (node: NodeView) => KubeletNode | null;
  /** What those of the others are. */
  readonly others?: (node: NodeView) => KubeletNode;
  readonly former?: number;
  readonly maxUnassign?: string;
}

function lookAt({ view, count, is = settled, others = settled, former, maxUnassign }: Case): {
  readonly fleet: Fleet;
  readonly desired: Desired;
} {
  const nodes = Array.from({ length: 10 }, (_, index) => nodeView(`n${index}`, 'workers', index < count ? view : {}));
  const kubeletNodes = nodes.map((node, index) => (index < count ? is(node) : others(node)));
  const fleet = fleetOf({ nodes, kubeletNodes: kubeletNodes.filter((each) => each !== null) });
  const before = former === undefined ? undefined : { maxUnavailable: null, maxUnassign: former, windows: null };
  const { oid, repo } = commit(COMMIT_B, OLD, SAME, validPool('other', 1));
  const inForce = {
    oid,
    repo: { ...repo, cluster: { ...DEFAULT_CLUSTER, file: FILE, maxUnassign: maxUnassign ?? 2 } },
    ...(before && { former: before }),
  };
  return { fleet, desired: desiredState(inForce, fleet, () => []) };
}

const bare =
  (active: string) =>
  (node: NodeView): KubeletNode => {
    const { metadata, status } = idleNode(node, { active: { name: active } });
    return { metadata, ...(status && { status }) };
  };
const anotherClass = (since: number): Pick<Case, 'view' | 'is'> => ({
  view: { poolChange: { to: 'workers', since, by: 'labels' } },
  is: (node) => settledNode(node, validPool('workers', 90)),
});
const stranger = (node: NodeView): KubeletNode => ({ ...settled(node), metadata: { name: node.name } });

/** What the nodes are held for, how many of them, and a part of what is told. */
const ROWS: readonly (readonly [string, Case, string | null, RegExp?])[] = [
  ['lost their labels a moment ago, as many as maxUnassign allows', { view: lost(SINCE + 1), count: 2 }, 'unselected'],
  ['lost them as long ago as they may be gone', { view: lost(), count: 2 }, null],
  [
    'are more than it allows, for however long',
    { view: lost(0), count: 3 },
    'unselected',
    /^3 of 10 .*\(n0, n1, n2\).* allows 2/,
  ],
  ['are many', { view: lost(0), count: 4 }, 'unselected', /\(n0, n1, n2 …\)/],
  ['are more than it allowed in the commit before', { view: lost(), count: 2, former: 1 }, 'unselected', /allows 1/],
  ['are more than it allows now', { view: lost(), count: 3, former: 5 }, 'unselected', /allows 2/],
  [
    'are more than a fifth of those that have a config',
    { view: lost(), count: 2, others: idleNode, maxUnassign: '20%' },
    'unselected',
    /^2 of 2 /,
  ],
  [
    'are on their way out',
    { view: lost(), count: 3, is: (node) => ({ ...settled(node), spec: { pool: 'workers' } }) },
    null,
  ],
  ['lost their pool by a commit', { view: lost(NOW, 'commit'), count: 3 }, null],
  ['have no config', { view: lost(NOW), count: 3, is: idleNode }, null],
  ['have no agent', { view: lost(NOW), count: 3, is: () => null }, null],
  ['have the name of others that had a config', { view: lost(NOW), count: 3, is: stranger }, null],
  [
    'run a config that a lost KubeletNode told them',
    { view: lost(NOW), count: 3, is: bare('workers-x') },
    'unselected',
    /3 of 10/,
  ],
  [
    'run their local config, with a KubeletNode that says nothing yet',
    { view: lost(NOW), count: 3, is: bare('local') },
    null,
  ],
  [
    'say nothing yet of what they run',
    {
      view: lost(NOW),
      count: 3,
      is: ({ name, uid }) => ({ metadata: { name, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] } }),
    },
    null,
  ],
  [
    'have a status that does not say what they run',
    { view: lost(NOW), count: 3, is: (node) => ({ metadata: idleNode(node).metadata, status: { phase: 'Idle' } }) },
    null,
  ],
  ['are put into another pool, as many as maxUnassign allows', { view: moved('other'), count: 2 }, null],
  [
    'are put into another pool and are more',
    { view: moved('other'), count: 3 },
    'relabelled',
    /labels of 3 of 10 .* allows 2/,
  ],
  ['are put into another pool by a commit', { view: moved('other', 'commit'), count: 3 }, null],
  ['are put into another pool with the same config', { view: moved('same'), count: 3 }, null],
  ['are put into a pool that nobody knows', { view: moved('gone'), count: 3 }, 'relabelled', /3 of 10/],
  [
    'are put into another class of their pool a moment less than ten minutes ago',
    { ...anotherClass(SINCE + 1), count: 2 },
    'relabelled',
  ],
  ['are put into another class of their pool ten minutes ago', { ...anotherClass(SINCE), count: 2 }, null],
  [
    'are put into another pool a moment ago, as many as maxUnassign allows',
    { view: { poolChange: { to: 'other', since: NOW, by: 'labels' } }, count: 2 },
    null,
  ],
  ['are put into another pool and had no config', { view: moved('other'), count: 3, is: idleNode }, null],
];

describe('nodes that', () => {
  for (const [name, given, reason, warning] of ROWS) {
    it(`${name}: ${reason ?? 'not held'}`, () => {
      const { desired, fleet } = lookAt(given);
      const { holds, warning: told } = holdForLabelGrace(desired, fleet, NOW);
      const names = Array.from({ length: given.count }, (_, index) => `n${index}`);
      assert.deepEqual(
        [...holds].map(([node, { hold }]) => [node, hold]),
        reason === null ? [] : names.map((node) => [node, reason]),
      );
      if (warning === undefined) assert.equal(told, null);
      else {
        assert.match(told ?? '', warning);
        assert.ok(told?.endsWith(`raise spec.maxUnassign in ${FILE}`), `${told}`);
      }
    });
  }

  it('lost their labels or have others are both told of, and the moment at which a node is let go', () => {
    const { desired, fleet } = lookAt({ view: { ...lost(), ...moved('other') }, count: 3 });
    assert.match(holdForLabelGrace(desired, fleet, NOW).warning ?? '', /^3 of 10 .*; the labels of 3 of 10 /);
    const one = lookAt({ view: lost(SINCE + 60_000), count: 1 });
    assert.match(
      holdForLabelGrace(one.desired, one.fleet, NOW).holds.get('n0')?.because ?? '',
      /until 2026-11-21T12:01:00Z/,
    );
  });
});

it('a node is in grace for ten minutes, by its labels alone', () => {
  const grace = [lost(NOW), lost(), lost(NOW, 'commit'), {}].map((view) => isInGrace(nodeView('a', '', view), NOW));
  assert.deepEqual(grace, [true, false, false, false]);
});

describe('since when a node is without its labels', () => {
  const at = toTimestamp(SINCE);
  const noted =
    (annotations: Readonly<Record<string, string>>) =>
    (node: NodeView): KubeletNode => {
      const own = settled(node);
      return { ...own, metadata: { ...own.metadata, annotations } };
    };
  const rows: readonly (readonly [string, Omit<Case, 'count'>, Readonly<Record<string, string | null>> | null])[] = [
    ['is remembered where it has a config', { view: lost() }, { [UNSELECTED_SINCE_ANNOTATION]: at }],
    [
      'is remembered where it has its first taint',
      { view: { ...lost(), gated: true }, is: idleNode },
      { [UNSELECTED_SINCE_ANNOTATION]: at },
    ],
    ['is of no interest otherwise', { view: lost(), is: idleNode }, null],
    ['is of no interest after a commit', { view: lost(SINCE, 'commit') }, null],
    ['cannot be remembered without a KubeletNode', { view: lost(), is: () => null }, null],
    ['is not written twice', { view: lost(), is: noted({ [UNSELECTED_SINCE_ANNOTATION]: at }) }, null],
    [
      'is forgotten when they are back',
      { view: {}, is: noted({ [UNSELECTED_SINCE_ANNOTATION]: at }) },
      { [UNSELECTED_SINCE_ANNOTATION]: null },
    ],
    ['is remembered where they put it into another pool', { view: moved('other') }, { [MOVED_SINCE_ANNOTATION]: at }],
    ['is of no interest where a commit did', { view: moved('other', 'commit') }, null],
    ['is of no interest where it had no config', { view: moved('other'), is: idleNode }, null],
  ];
  for (const [name, given, annotations] of rows) {
    it(name, () => {
      const { fleet } = lookAt({ ...given, count: 1 });
      const present = fleet.kubeletNodes.get('n0');
      const step = { step: 'remember', node: 'n0', present, annotations };
      assert.deepEqual(rememberLabelLosses(fleet), annotations === null ? [] : [step]);
    });
  }
});
