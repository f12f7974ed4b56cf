import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Choice } from '#reconciler/policy/pool-selection/choose-pool.ts';
import type { Desired, DesiredPool } from '#reconciler/policy/desired.ts';
import type { PoolChange } from '#reconciler/policy/fleet.ts';
import { poolChangeOf } from '#reconciler/policy/first-seen/pool-change.ts';
import { CLASS_LABELS_ANNOTATION, MOVED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  COMMIT_A,
  COMMIT_B,
  commit,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  validPool,
} from '../../../support/fleet.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { sizedNode, sizedPool } from '../../../support/rollout/sized-pool.ts';

const EARLIER = NOW - 3_600_000;
const node = nodeView('a', 'new');
const pool = (name: string): Choice => ({ choice: 'pool', pool: name });

interface Case {
  /** The pool that the node belongs to now. */
  readonly choice?: Choice | undefined;
  /** The pool whose config it was told, and what has become of that pool; `gone` where git and cluster know none. */
  readonly from?: string | undefined;
  readonly origin?: DesiredPool['origin'] | 'gone';
  /** What its labels meant by the pools of the cluster. */
  readonly before?: Choice;
  readonly last?: PoolChange;
  /** A process that has just started: what another one noted, and how the new pool stands. */
  readonly first?: { readonly noted?: string; readonly status?: KubeletPoolStatus };
  readonly noted?: string;
  /** The new pool is not in the cluster, or has no status there. */
  readonly present?: 'not' | 'bare';
}

function moved(given: Case): PoolChange | undefined {
  const { from = 'old', origin = 'rendered', before = pool('new'), last, first } = given;
  const choice = 'choice' in given ? given.choice : pool('new');
  const rendered = desiredState(
    commit(COMMIT_B, validPool('new', 1), validPool('old', 1)),
    fleetOf({}),
    () => [],
  ).pools;
  const pools = new Map(
    [...rendered].flatMap(([name, each]): [string, DesiredPool][] =>
      name === 'old' ? (origin === 'gone' ? [] : [[name, { ...each, origin }]]) : [[name, each]],
    ),
  );
  const desired: Desired = {
    ...desiredState(null, fleetOf({}), () => []),
    pools,
    choices: new Map(choice === undefined ? [] : [['a', choice]]),
  };
  const fleet = fleetOf({
    pools: [{ ...poolInCluster(validPool('new', 1)), ...(first?.status && { status: first.status }) }],
  });
  const bare = fleetOf({ pools: [{ metadata: { name: given.present === 'bare' ? 'new' : 'x' } }] });
  const noted = first?.noted ?? given.noted;
  const idle = idleNode(node);
  const kubeletNode = {
    metadata: { ...idle.metadata, ...(noted && { annotations: { [MOVED_SINCE_ANNOTATION]: noted } }) },
    ...('from' in given && given.from === undefined ? {} : { spec: { pool: from } }),
  };
  return poolChangeOf(node, kubeletNode, last, first !== undefined, {
    desired,
    fleet: given.present === undefined ? fleet : bare,
    poolUntilNow: () => before,
    ahead: 0,
    now: NOW,
  });
}

const byLabels: PoolChange = { to: 'new', since: NOW, by: 'labels' };
const byCommit: PoolChange = { ...byLabels, by: 'commit' };
const noted = new Date(EARLIER).toISOString();

const ROWS: readonly (readonly [string, Case, PoolChange | undefined])[] = [
  ['as a new process sees it, whose pool is not in the cluster', { first: {}, present: 'not' }, byCommit],
  ['as a new process sees it, whose pool has no status', { first: {}, present: 'bare' }, byCommit],
  ['whose labels alone put it into another pool', {}, byLabels],
  ['that is in no pool', { choice: { choice: 'none' } }, undefined],
  ['that two pools want', { choice: { choice: 'conflict', pools: ['new', 'x'] } }, undefined],
  ['that nobody has looked for a pool for', { choice: undefined }, undefined],
  ['that was never told a config', { from: undefined }, undefined],
  ['that was told one of its pool', { from: 'new' }, undefined],
  ['whose pool leaves git', { origin: 'retiring' }, byCommit],
  ['whose pool nobody knows any more', { origin: 'gone' }, byCommit],
  ['whose labels were those of no pool until now', { before: { choice: 'none' } }, byCommit],
  ['whose labels were those of its pool until now', { before: pool('old') }, byCommit],
  ['that has been on its way for long', { last: { ...byLabels, since: EARLIER } }, { ...byLabels, since: EARLIER }],
  ['that a commit sent before', { last: { ...byCommit, since: EARLIER } }, { ...byCommit, since: EARLIER }],
  ['that a commit sent to a third pool before', { last: { to: 'x', since: EARLIER, by: 'commit' } }, byLabels],
  ['with a note of another process, which counts for a new one', { first: { noted } }, { ...byLabels, since: EARLIER }],
  ['with a note of another process, which counts for no other', { noted }, byLabels],
  ['as a new process sees it, while its pool changes', { first: {} }, byCommit],
  [
    'as a new process sees it, while its pool follows the commit',
    { first: { status: { phase: 'Progressing', commit: COMMIT_B } } },
    byCommit,
  ],
  [
    'as a new process sees it, before its pool heard of the commit',
    { first: { status: { phase: 'Settled', commit: COMMIT_A } } },
    byCommit,
  ],
  [
    'as a new process sees it, when its pool is through',
    { first: { status: { phase: 'Settled', commit: COMMIT_B } } },
    byLabels,
  ],
  [
    'as a new process sees it, when its pool was empty',
    { first: { status: { phase: 'Empty', commit: COMMIT_B } } },
    byLabels,
  ],
];

describe('a node', () => {
  for (const [name, given, expected] of ROWS) {
    const what = expected === undefined ? 'has not moved' : `has moved by ${expected.by}`;
    it(`${name} ${what}`, () => assert.deepEqual(moved(given), expected));
  }
});

describe('a node that stays in its pool', () => {
  const TIER = 'example.com/tier';
  const EXPRESSION = `labels["${TIER}"] == "gold" ? memory * 0.2 : labels["${TIER}"] == "huge" ? memory - quantity("1Ti") : memory * 0.1`;
  const of = (tier: string) => sizedNode('a', 2, 7.7, { labels: { pool: 'x', [TIER]: tier } });

  /** @param told the tier of which it was told the config; null where it was told none */
  function reclassed(told: string | null, kept: string | undefined, tier: string): PoolChange | undefined {
    const sized = sizedPool(`computed: {systemReserved: {memory: '${EXPRESSION}'}}\n`);
    const given = told === null ? undefined : poolOfNode(sized, of(told)).class.pool;
    const { metadata, spec } =
      given === undefined ? { ...idleNode(of(tier)), spec: { pool: 'x' } } : assignedNode(of(tier), given);
    const annotations = kept === undefined ? {} : { annotations: { [CLASS_LABELS_ANNOTATION]: `${TIER}=${kept}` } };
    const fleet = fleetOf({ nodes: [of(tier)] });
    return poolChangeOf(
      of(tier),
      { metadata: { ...metadata, ...annotations }, ...(spec && { spec }) },
      undefined,
      false,
      {
        desired: desiredState(commit(COMMIT_B, sized), fleet, () => []),
        fleet,
        poolUntilNow: () => pool('x'),
        ahead: 0,
        now: NOW,
      },
    );
  }

  const rows: readonly (readonly [string, Parameters<typeof reclassed>, boolean])[] = [
    ['moves to another class where its label means another config', ['gold', 'gold', 'silver'], true],
    ['moves nowhere with the same label', ['gold', 'gold', 'gold'], false],
    ['moves nowhere with a label that means the same config', ['silver', 'silver', 'bronze'], false],
    ['moves nowhere with a label that means no config', ['gold', 'gold', 'huge'], false],
    ['moves nowhere where it was told no config', [null, 'gold', 'silver'], false],
    [
      'moves nowhere where nobody knows the label that it was told its config with',
      ['gold', undefined, 'silver'],
      false,
    ],
  ];
  for (const [name, given, moves] of rows) {
    it(name, () => assert.deepEqual(reclassed(...given), moves ? { to: 'x', since: NOW, by: 'labels' } : undefined));
  }
});
