import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { NodeSight } from '#reconciler/policy/sights/node-sight.ts';
import { inOwnTime } from '#reconciler/policy/sights/own-time.ts';
import { type Sights, sightsOf } from '#reconciler/policy/sights/sights.ts';
import { FIRST_SEEN_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  validPool,
} from '../../../support/fleet.ts';

const MINUTE = 60_000;
const stamp = (at: number): string => new Date(at).toISOString().replace('.000', '');
const workers = validPool('workers', 110);
const node = nodeView('a', 'workers');
/** What a node with nothing to say is seen as, by a process that has just started. */
const PLAIN: NodeSight = { uid: node.uid, firstSeen: 0, readiness: { stamp: `true ${node.readySince}`, at: NOW } };

interface Seen {
  readonly view?: Parameters<typeof nodeView>[2];
  readonly status?: KubeletNodeStatus;
  readonly annotations?: Record<string, string>;
  readonly pool?: string | undefined;
  readonly last?: Partial<NodeSight>;
  readonly kubeletNodes?: readonly KubeletNode[];
  readonly pools?: readonly KubeletPool[];
  readonly git?: Parameters<typeof commit>[1][];
}

function lookAt(given: Seen): { readonly fleet: Fleet; readonly sights: Sights } {
  const { view, status = {}, annotations, last, pools = [], git = [workers] } = given;
  const pool = 'pool' in given ? given.pool : 'workers';
  const idle = idleNode(node);
  const own = {
    metadata: { ...idle.metadata, ...(annotations && { annotations }) },
    spec: pool === undefined ? {} : { pool },
    status,
  };
  const fleet = fleetOf({ nodes: [nodeView('a', 'workers', view)], kubeletNodes: given.kubeletNodes ?? [own], pools });
  const before = last === undefined ? null : { nodes: new Map([['a', { ...PLAIN, ...last }]]), sources: new Map() };
  const desired = desiredState(commit(COMMIT_B, ...git), fleet, () => []);
  return { fleet, sights: sightsOf(before, desired, fleet, NOW) };
}
const seen = (given: Seen): NodeSight | undefined => lookAt(given).sights.nodes.get('a');

const gone = validPool('other', 1);
const narrow = validPool('workers', 110, { nodeSelector: { matchLabels: { pool: 'x' } } });
const unselected = (by: 'labels' | 'commit', since = NOW): Partial<NodeSight> => ({ unselected: { since, by } });
const heard = { stamp: stamp(NOW - MINUTE), at: NOW - 7, own: new Date(NOW - 7).toISOString() };
const [soaked, atOnce] = [NOW - 9 * MINUTE + 999, NOW].map((at) => ({
  stamp: stamp(NOW - 10 * MINUTE),
  at,
  own: new Date(at).toISOString(),
}));

/** What is there to see, and what of it is another than of a node with nothing to say. */
const ROWS: readonly (readonly [string, Seen, Partial<NodeSight>])[] = [
  ['that says nothing, at first', {}, {}],
  ['that says nothing, later', { last: {} }, {}],
  [
    'that has been Ready for long, at first',
    { view: { readyForMs: 5 } },
    { readiness: { ...PLAIN.readiness, at: NOW - 5 } },
  ],
  [
    'that has been Ready since it was seen',
    { view: { readyForMs: 5 }, last: { readiness: { ...PLAIN.readiness, at: 3 } } },
    { readiness: { ...PLAIN.readiness, at: 3 } },
  ],
  ['that became Ready again', { view: { readyForMs: 5 }, last: { readiness: { stamp: 'false 1', at: 3 } } }, {}],
  ['that became Ready once more', { last: { readiness: { stamp: 'true 1', at: 3 } } }, {}],
  [
    'whose agent is heard first',
    { status: { heartbeat: heard.stamp } },
    { heartbeat: { ...heard, at: NOW, own: new Date(NOW).toISOString() } },
  ],
  [
    'whose agent said no more',
    { status: { heartbeat: heard.stamp }, last: { heartbeat: heard } },
    { heartbeat: heard },
  ],
  ['whose agent says what nobody can read', { status: { heartbeat: 'soon' } }, {}],
  [
    'whose agent says what nobody can read, later',
    { status: { heartbeat: 'soon' }, last: { heartbeat: heard } },
    { heartbeat: heard },
  ],
  [
    'that has soaked by its own clock, at first',
    { status: { promotedAt: stamp(NOW - 10 * MINUTE), heartbeat: heard.stamp } },
    { heartbeat: { ...heard, at: NOW, own: new Date(NOW).toISOString() }, ...(soaked && { promotion: soaked }) },
  ],
  [
    'that was promoted and never heard, at first',
    { status: { promotedAt: stamp(NOW - 10 * MINUTE) } },
    { ...(atOnce && { promotion: atOnce }) },
  ],
  [
    'that was promoted, later',
    { status: { promotedAt: stamp(NOW - 10 * MINUTE), heartbeat: heard.stamp }, last: { heartbeat: heard } },
    { heartbeat: heard, ...(atOnce && { promotion: atOnce }) },
  ],
  [
    'whose drain was given up',
    { view: { drainFailed: { config: 'c', at: NOW - 5 } } },
    { drainFailed: { stamp: NOW - 5, at: NOW - 5 } },
  ],
  [
    'whose drain was given up in the future',
    { view: { drainFailed: { config: 'c', at: NOW + 5 } }, last: {} },
    { drainFailed: { stamp: NOW + 5, at: NOW } },
  ],
  [
    'whose drain was given up, as it was seen',
    { view: { drainFailed: { config: 'c', at: NOW + 5 } }, last: { drainFailed: { stamp: NOW + 5, at: 3 } } },
    { drainFailed: { stamp: NOW + 5, at: 3 } },
  ],
  [
    'that was noted when it joined',
    { annotations: { [FIRST_SEEN_ANNOTATION]: stamp(NOW - MINUTE) } },
    { firstSeen: NOW - MINUTE },
  ],
  [
    'that another Node of its name was noted for',
    {
      kubeletNodes: [
        {
          ...idleNode(nodeView('a', 'workers', { uid: 'u' })),
          metadata: { name: 'a', annotations: { [FIRST_SEEN_ANNOTATION]: stamp(1_000) } },
        },
      ],
    },
    { firstSeen: NOW },
  ],
  ['that was there before this was installed', { kubeletNodes: [] }, { firstSeen: 0 }],
  ['that joined while nobody looked', { kubeletNodes: [idleNode(nodeView('b', 'workers'))] }, { firstSeen: NOW }],
  ['that is another one of its name, later', { last: { uid: 'u', firstSeen: 7 } }, { firstSeen: NOW }],
  ['that is seen again', { last: { firstSeen: 7 } }, { firstSeen: 7 }],
  ['whose labels are in no pool', { view: { labels: {} } }, unselected('labels')],
  [
    'whose labels are in no pool, as it was noted',
    { view: { labels: {} }, annotations: { [UNSELECTED_SINCE_ANNOTATION]: stamp(NOW - MINUTE) } },
    unselected('labels', NOW - MINUTE),
  ],
  [
    'whose labels are in no pool, as another noted',
    { view: { labels: {} }, last: {}, annotations: { [UNSELECTED_SINCE_ANNOTATION]: stamp(NOW - MINUTE) } },
    unselected('labels'),
  ],
  [
    'whose labels are in no pool, as it was',
    { view: { labels: {} }, last: unselected('labels', 3) },
    unselected('labels', 3),
  ],
  ['that no pool was, by a commit', { view: { labels: {} }, last: unselected('commit', 3) }, unselected('commit', 3)],
  [
    'whose labels are in no pool, and which was told nothing',
    { view: { labels: {} }, pool: undefined },
    unselected('labels'),
  ],
  [
    'whose pool leaves git, and which is not in it',
    { view: { labels: {} }, git: [gone], pools: [poolInCluster(workers)] },
    unselected('commit'),
  ],
  [
    'that moves, at first',
    { pool: 'other', git: [workers, gone], pools: [poolInCluster(workers)] },
    { moved: { to: 'workers', since: NOW, by: 'commit' } },
  ],
  [
    'that moves, later',
    { pool: 'other', git: [workers, gone], pools: [poolInCluster(workers)], last: {} },
    { moved: { to: 'workers', since: NOW, by: 'labels' } },
  ],
  ['whose pool left git', { git: [gone] }, unselected('commit')],
  ['whose pool leaves git', { git: [gone], pools: [poolInCluster(workers)] }, unselected('commit')],
  ['whose pool selects others now', { git: [narrow], pools: [poolInCluster(workers)] }, unselected('commit')],
  ['whose pool selected others before', { git: [narrow], pools: [poolInCluster(narrow)] }, unselected('labels')],
  ['whose pool is not in the cluster', { git: [narrow] }, unselected('labels')],
  [
    'whose pool in the cluster says nothing',
    { git: [narrow], pools: [{ metadata: { name: 'workers' } }] },
    unselected('labels'),
  ],
  [
    'whose labels put it into another pool',
    {
      pool: 'other',
      git: [workers, gone],
      pools: [workers, gone].map((each) => poolInCluster(each, { phase: 'Settled', commit: COMMIT_B })),
    },
    { moved: { to: 'workers', since: NOW, by: 'labels' } },
  ],
  [
    'whose pool in the cluster says nothing of nodes yet',
    { pool: 'other', git: [workers, gone], pools: [{ metadata: { name: 'workers' } }] },
    { moved: { to: 'workers', since: NOW, by: 'commit' } },
  ],
];

describe('what is seen of a node', () => {
  for (const [name, given, expected] of ROWS) {
    it(name, () => assert.deepEqual(seen(given), { ...PLAIN, ...expected }));
  }

  it('is a time of this process for a config source too: younger than the newest object by as much', () => {
    const sources = [
      configSource(workers, { uid: 'new', createdAt: 9_000 }),
      configSource(gone, { uid: 'old', createdAt: 4_000 }),
    ];
    const fleet = fleetOf({
      nodes: [nodeView('a', 'x', { createdAt: 10_000 }), nodeView('b', 'x', { createdAt: 2_000 })],
      configSources: sources,
    });
    const desired = desiredState(commit(COMMIT_B), fleet, () => []);
    const { sources: first } = sightsOf(null, desired, fleet, NOW);
    assert.deepEqual(
      [...first],
      [
        ['new', NOW - 1_000],
        ['old', NOW - 6_000],
      ],
    );
    const later = sightsOf({ nodes: new Map(), sources: new Map([['old', 3]]) }, desired, fleet, NOW + 5);
    assert.deepEqual(
      [...later.sources],
      [
        ['new', NOW - 995],
        ['old', 3],
      ],
    );
  });
});

describe('the fleet as decisions see it', () => {
  const sighted = (given: Seen) => {
    const { fleet, sights } = lookAt(given);
    const own = inOwnTime(fleet, sights);
    return { node: own.nodes.get('a'), status: own.kubeletNodes.get('a')?.status };
  };
  const own = { firstSeen: 0, readySince: NOW };

  it('has the times of its sights in place of those of other machines', () => {
    const status = { heartbeat: heard.stamp, promotedAt: stamp(NOW - 10 * MINUTE) };
    const given = { status, view: { labels: {}, drainFailed: { config: 'c', at: NOW + 5 } } };
    assert.deepEqual(sighted(given), {
      node: {
        ...nodeView('a', 'workers', given.view),
        ...own,
        ...unselected('labels'),
        drainFailed: { config: 'c', at: NOW },
      },
      status: { heartbeat: new Date(NOW).toISOString(), promotedAt: soaked?.own },
    });
    const { moved } = sighted({ pool: 'gone' }).node ?? {};
    assert.deepEqual(moved, { to: 'workers', since: NOW, by: 'commit' });
  });

  it('is as it was where nobody looked, where an agent has said nothing, and where nobody can read what it says', () => {
    const { fleet } = lookAt({});
    assert.deepEqual(inOwnTime(fleet, { nodes: new Map(), sources: new Map() }), fleet);
    assert.deepEqual(sighted({}), { node: { ...node, ...own }, status: {} });
    assert.deepEqual(sighted({ status: { heartbeat: 'soon' }, last: { heartbeat: heard } }).status, {
      heartbeat: 'soon',
    });
    assert.deepEqual(sighted({ last: { drainFailed: { stamp: 3, at: 3 } } }).node, { ...node, ...own });
    const mute = idleNode(node);
    const { status: _, ...bare } = mute;
    assert.equal(sighted({ kubeletNodes: [bare] }).status, undefined);
  });
});
