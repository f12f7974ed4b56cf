import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeFirstSeen } from '#reconciler/policy/first-seen/node-first-seen.ts';
import { firstSeenTimes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import { FIRST_SEEN_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import {
  atOnce,
  gone,
  heard,
  MINUTE,
  node,
  PLAIN,
  type Seen,
  seen,
  soaked,
  stamp,
  unselected,
  workers,
} from './support/look.ts';

const trialOf = (config: string) => ({ config, since: '', healthySeconds: 0, durationSeconds: 1, restarts: 0 });
const told = assignedNode(node, workers, { heartbeat: '' });
const toldAt = (at: number): NodeFirstSeen['told'] & {} => ({ stamp: `overlay ${workers.sha256}`, at });
const TRIAL = { config: workers.configName, since: stamp(NOW), healthySeconds: 90, durationSeconds: 600, restarts: 0 };
const tries = assignedNode(node, workers, { heartbeat: '', trial: TRIAL });
const silenced = (of: KubeletNode): KubeletNode => ({ ...of, status: { ...of.status, heartbeat: '' } });
const TARGET = { sha256: workers.sha256, apply: workers.spec.apply };
const DOWN = { readiness: { ...PLAIN.readiness, stamp: PLAIN.readiness.stamp.replace('true', 'false') } };
const narrow = validPool('workers', 110, { nodeSelector: { matchLabels: { pool: 'x' } } });

const [SAID, PROMOTED] = [heard.stamp, stamp(NOW - 10 * MINUTE)];
const AGAIN = { ...heard, at: NOW, own: new Date(NOW).toISOString() };
const LATER = { heartbeat: heard };
const UNREADABLE = { heartbeat: 'soon' };
const [BARE, ILL] = [{ labels: {} }, { ready: false }];
const NOTED = { [UNSELECTED_SINCE_ANNOTATION]: stamp(NOW - MINUTE) };
const KNOWN = [poolInCluster(workers)];
const TOLD = { assigned: NOW, told: toldAt(NOW) };
/** A drain was given up at this offset from now, by the clock of the Node. */
const gaveUp = (ms: number) => ({ drainFailed: { config: 'c', at: NOW + ms, times: 1 } });
const pausing = (ms: number, at: number) => ({ drainFailed: { stamp: NOW + ms, at } });
const moved = (by: 'commit' | 'labels') => ({ poolChange: { to: 'workers', since: NOW, by } });

/** What is there to see, and what of it is another than of a node with nothing to say. */
const ROWS: readonly (readonly [string, Seen, Partial<NodeFirstSeen>])[] = [
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
  ['whose agent is heard first', { status: { heartbeat: SAID } }, { heartbeat: AGAIN }],
  ['whose agent said no more', { status: { heartbeat: SAID }, last: LATER }, { heartbeat: heard }],
  ['whose agent says what nobody can read', { status: UNREADABLE }, {}],
  ['whose agent says what nobody can read, later', { status: UNREADABLE, last: LATER }, { heartbeat: heard }],
  [
    'that has soaked by its own clock, at first',
    { status: { promotedAt: PROMOTED, heartbeat: SAID } },
    { heartbeat: AGAIN, ...(soaked && { promotion: soaked }) },
  ],
  [
    'that was promoted and never heard, at first',
    { status: { promotedAt: PROMOTED } },
    { ...(atOnce && { promotion: atOnce }) },
  ],
  [
    'that was promoted, later',
    { status: { promotedAt: PROMOTED, heartbeat: SAID }, last: LATER },
    { heartbeat: heard, ...(atOnce && { promotion: atOnce }) },
  ],
  ['whose drain was given up', { view: gaveUp(-5) }, pausing(-5, NOW - 5)],
  ['whose drain was given up in the future', { view: gaveUp(5), last: {} }, pausing(5, NOW)],
  ['whose drain was given up, as it was seen', { view: gaveUp(5), last: pausing(5, 3) }, pausing(5, 3)],
  ['whose drain was given up by a clock that was behind', { view: gaveUp(-5), ahead: 2 }, pausing(-5, NOW - 3)],
  ['whose drain was given up by its own clock', { view: gaveUp(-5), last: {}, ahead: 2 }, pausing(-5, NOW - 5)],
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
  ['that was told a config, at first', { kubeletNodes: [told] }, { ...TOLD }],
  ['that is on trial, at first', { kubeletNodes: [tries] }, { assigned: NOW, told: toldAt(NOW - 90_000) }],
  [
    'that was told another config before',
    { kubeletNodes: [told], last: { assigned: 9, told: { stamp: 'x', at: 9 } } },
    { assigned: 9, told: toldAt(NOW) },
  ],
  [
    'that was told the same before',
    { kubeletNodes: [told], last: { assigned: 9, told: toldAt(9) } },
    { assigned: 9, told: toldAt(9) },
  ],
  ['that was told a config by now', { kubeletNodes: [told], last: { firstSeen: 7 } }, { firstSeen: 7, ...TOLD }],
  [
    'that was told a config, later',
    { kubeletNodes: [told], last: { assigned: 9 } },
    { assigned: 9, told: toldAt(NOW) },
  ],
  [
    'that is down with what it was told',
    { kubeletNodes: [told], view: ILL },
    { ...DOWN, ...TOLD, down: { pool: 'workers', target: TARGET } },
  ],
  [
    'that is down with it and about to be removed',
    { kubeletNodes: [told], view: { ready: false, leaving: 'X removes it' } },
    { ...DOWN, ...TOLD },
  ],
  [
    'that is down and has proven it',
    { kubeletNodes: [settledNode(node, workers, { heartbeat: '', promotedAt: null })], view: ILL },
    { ...DOWN, ...TOLD },
  ],
  [
    'that is down and took it back',
    { kubeletNodes: [silenced(failedNode(node, workers))], view: ILL },
    { ...DOWN, ...TOLD },
  ],
  ['that was told none any more', { last: { assigned: 9 } }, {}],
  ['whose labels are in no pool', { view: BARE }, unselected('labels')],
  [
    'whose labels are in no pool, as it was noted',
    { view: BARE, annotations: NOTED },
    unselected('labels', NOW - MINUTE),
  ],
  ['whose labels are in no pool, as another noted', { view: BARE, last: {}, annotations: NOTED }, unselected('labels')],
  ['whose labels are in no pool, as it was', { view: BARE, last: unselected('labels', 3) }, unselected('labels', 3)],
  ['that no pool was, by a commit', { view: BARE, last: unselected('commit', 3) }, unselected('commit', 3)],
  ['whose labels are in no pool, and which was told nothing', { view: BARE, pool: undefined }, unselected('labels')],
  ['whose pool leaves git, and which is not in it', { view: BARE, git: [gone], pools: KNOWN }, unselected('commit')],
  ['that moves, at first', { pool: 'other', git: [workers, gone], pools: KNOWN }, moved('commit')],
  ['that moves, later', { pool: 'other', git: [workers, gone], pools: KNOWN, last: {} }, moved('labels')],
  ['whose pool left git', { git: [gone] }, unselected('commit')],
  ['whose pool leaves git', { git: [gone], pools: KNOWN }, unselected('commit')],
  ['whose pool selects others now', { git: [narrow], pools: KNOWN }, unselected('commit')],
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
    moved('labels'),
  ],
  [
    'whose pool in the cluster says nothing of nodes yet',
    { pool: 'other', git: [workers, gone], pools: [{ metadata: { name: 'workers' } }] },
    moved('commit'),
  ],
];

describe('what is seen of a node', () => {
  for (const [name, given, expected] of ROWS) {
    it(name, () => {
      const { unableSince: _, ...found } = seen(given) ?? {};
      assert.deepEqual(found, { ...PLAIN, ...expected });
    });
  }

  const alive = { status: { heartbeat: SAID }, last: LATER };
  const unable: readonly (readonly [string, Seen, number | undefined])[] = [
    ['while its agent lives and it is Ready', alive, undefined],
    ['from the first look at which nothing was heard of its agent', {}, NOW],
    ['for as long as it is not Ready', { ...alive, view: ILL, last: { heartbeat: heard, unableSince: 5 } }, 5],
    ['from when somebody cordons it', { ...alive, view: { cordoned: true } }, NOW],
    ['but not while we drain it', { ...alive, view: { cordoned: true, drain: { config: 'c', at: 1 } } }, undefined],
    ['and no longer when it can', { ...alive, last: { heartbeat: heard, unableSince: 5 } }, undefined],
    [
      'from when its agent has been silent for too long',
      { status: { heartbeat: SAID }, last: { heartbeat: { ...heard, at: NOW - 15 * MINUTE - 1 } } },
      NOW,
    ],
  ];
  for (const [name, given, since] of unable) {
    it(`cannot take part ${name}`, () => assert.equal(seen(given)?.unableSince, since));
  }

  const [restored, written] = [stamp(NOW - 60 * MINUTE), stamp(NOW)];
  const [DOUBTED, BEFORE] = [
    { stamp: restored, at: NOW },
    { stamp: restored, at: NOW - MINUTE },
  ];
  const looks = (order: number, heartbeat: string): Pick<Seen, 'kubeletNodes'> => {
    const { spec, ...rest } = assignedNode(node, workers, { heartbeat, obeyedOrder: order });
    return { kubeletNodes: [{ ...rest, spec: { ...spec, order } }] };
  };
  const DOUBTS: readonly (readonly [string, Seen, Partial<NodeFirstSeen>])[] = [
    ['is believed at first', looks(5, restored), { order: 5 }],
    ['is believed while its orders go on', { ...looks(6, restored), last: { order: 5 } }, { order: 6 }],
    [
      'is doubted from when an order is gone',
      { ...looks(5, restored), last: { order: 6 } },
      { order: 5, doubted: DOUBTED },
    ],
    [
      'is doubted where the last process ended long ago',
      { ...looks(5, restored), ahead: 60 * MINUTE },
      { order: 5, doubted: DOUBTED },
    ],
    [
      'is doubted until its agent writes',
      { ...looks(5, restored), last: { order: 5, doubted: BEFORE } },
      { order: 5, doubted: BEFORE },
    ],
    ['is believed once its agent wrote', { ...looks(5, written), last: { order: 5, doubted: BEFORE } }, { order: 5 }],
    [
      'is believed where its agent has not written for longer than any that lives needs',
      { ...looks(5, restored), last: { order: 5, doubted: { stamp: restored, at: NOW - MINUTE - 1 } } },
      { order: 5 },
    ],
    ['is not doubted where its KubeletNode is away', { kubeletNodes: [], last: { order: 6 } }, {}],
  ];
  for (const [name, given, expected] of DOUBTS) {
    it(name, () => {
      const { order, doubted } = seen(given) ?? {};
      assert.deepEqual({ ...(order !== undefined && { order }), ...(doubted && { doubted }) }, expected);
    });
  }

  const config = (name: string) => ({ name, sha256: name, apply: 'overlay' }) as const;
  const [a, b, c] = [config('a'), config('b'), config('c')];
  const at = {
    a: { active: a, lastKnownGood: a },
    b: { active: b, lastKnownGood: a },
    c: { active: c, lastKnownGood: c },
  };
  const isAway = true;
  const before = heard;
  const other = { ...AGAIN, stamp: stamp(NOW) };
  const promotedAt = before.stamp;
  const ways: readonly (readonly [string, KubeletNodeStatus, Partial<NodeFirstSeen>, Partial<NodeFirstSeen>])[] = [
    ['is kept while it runs that', { ...at.a, phase: 'Idle', promotedAt }, {}, { promotion: before }],
    ['is kept while it tries another', { ...at.b, phase: 'Trial', promotedAt }, {}, { promotion: before, isAway }],
    [
      'is kept while it installs another',
      { ...at.a, phase: 'Trial', promotedAt, trial: trialOf('b') },
      {},
      { promotion: before, isAway },
    ],
    [
      'is kept while it restarts with that',
      { ...at.a, phase: 'Trial', promotedAt, trial: trialOf('a') },
      {},
      { promotion: before },
    ],
    ['is kept while it goes back', { ...at.a, phase: 'FallingBack', promotedAt }, {}, { promotion: before, isAway }],
    ['is kept while it says nothing of configs', { promotedAt }, { isAway }, { promotion: before, isAway }],
    ['begins again once it came back', { ...at.a, phase: 'Idle', promotedAt }, { isAway }, { promotion: AGAIN }],
    ['is that of another that it promoted', { ...at.c, promotedAt: stamp(NOW) }, { isAway }, { promotion: other }],
    ['is kept where it came back without one', { ...at.a, phase: 'Idle' }, { isAway }, { promotion: before }],
  ];
  for (const [name, status, last, expected] of ways) {
    it(`was promoted at a time that ${name}`, () => {
      const { promotion, isAway: away } = seen({ status, last: { promotion: before, ...last } }) ?? {};
      assert.deepEqual({ promotion, ...(away && { isAway: away }) }, expected);
    });
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
    const { sources: first } = firstSeenTimes(null, desired, fleet, NOW);
    assert.deepEqual(
      [...first],
      [
        ['new', NOW - 1_000],
        ['old', NOW - 6_000],
      ],
    );
    const later = firstSeenTimes({ nodes: new Map(), sources: new Map([['old', 3]]) }, desired, fleet, NOW + 5);
    assert.deepEqual(
      [...later.sources],
      [
        ['new', NOW - 995],
        ['old', 3],
      ],
    );
  });
});
