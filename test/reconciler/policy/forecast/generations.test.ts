import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import {
  generationsIn,
  generationsOf,
  type Generation,
  type TrialTimeline,
} from '#reconciler/policy/forecast/generations.ts';
import { type Group, type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { RolloutMemory } from '#reconciler/policy/rollout/rollout-status.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  idleNode,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { rolloutInTime } from '../../../support/rollout/rollout-in-time.ts';

const way = (node: string, beganAt: number, rest: Partial<TrialTimeline> = {}): TrialTimeline => ({
  node,
  beganAt,
  ...rest,
});
/** Began, passed a minute and promoted three minutes later. */
const done = (node: string, beganAt: number): TrialTimeline =>
  way(node, beganAt, { passedAt: beganAt + 60, promotedAt: beganAt + 180 });
const shown = (ways: readonly TrialTimeline[], most = 100, canaries = 1): readonly string[] =>
  inWords(generationsOf(ways, most, canaries));
const inWords = (generations: readonly Generation[]): readonly string[] =>
  generations.map(
    ({ generation, maxOnTrial, nodes, inProbation, onTrial, promoted, failed }) =>
      `${generation} of ${maxOnTrial}: ${nodes.join(' ')} ${inProbation}/${onTrial}/${promoted}/${failed}`,
  );

describe('the generations of a rollout', () => {
  const ROWS: readonly (readonly [string, readonly TrialTimeline[], readonly string[]])[] = [
    ['none have begun', [], []],
    ['the canary is in probation', [way('a', 0)], ['0 of 1: a 1/0/0/0']],
    ['the canary is past its probation', [way('a', 0, { passedAt: 60 })], ['0 of 1: a 0/1/0/0']],
    ['a node begins before the canary promoted', [done('a', 0), way('b', 179)], ['0 of 1: a b 1/0/1/0']],
    ['and when it has', [done('a', 0), way('b', 180)], ['0 of 1: a 0/0/1/0', '1 of 2: b 1/0/0/0']],
    [
      'the bound doubles with as many as are past their probation, in the order of their beginning',
      [way('e', 240), done('a', 0), way('c', 239, {}), done('b', 180)],
      ['0 of 1: a 0/0/1/0', '1 of 2: b c 1/0/1/0', '2 of 4: e 1/0/0/0'],
    ],
    [
      'the bound doubles with one that has yet to promote',
      [done('a', 0), way('b', 180, { passedAt: 240 }), way('c', 240)],
      ['0 of 1: a 0/0/1/0', '1 of 2: b 0/1/0/0', '2 of 4: c 1/0/0/0'],
    ],
    [
      'a failure takes the bound back to the canaries, and counts for the generation that it came in',
      [done('a', 0), way('b', 200, { failedAt: 200 }), way('c', 202)],
      ['0 of 1: a 0/0/1/0', '1 of 2: b 0/0/0/1', '0 of 1: c 1/0/0/0'],
    ],
  ];
  for (const [name, ways, expected] of ROWS)
    it(`are told where ${name}`, () => assert.deepEqual(shown(ways), expected));

  it('end with the bound at its widest', () => {
    const ways = [done('a', 0), done('b', 180), done('c', 250), done('d', 400), done('e', 600)];
    assert.deepEqual(shown(ways, 2), ['0 of 1: a 0/0/1/0', '1 of 2: b c d e 0/0/4/0']);
  });

  it('say when they are over, and not while one is on trial', () => {
    const [first, second] = generationsOf([done('a', 0), done('b', 180), way('c', 190)], 100, 1);
    assert.deepEqual([first?.doneAt, second?.doneAt], [180, null]);
    assert.deepEqual(
      generationsOf([way('a', 0), done('b', 1)], 100, 2).map(({ doneAt }) => doneAt),
      [null],
    );
  });

  it('never have more nodes on trial than they may, and agree with the bound that the planner gives', () => {
    for (const { planned, told } of rolloutInTime(40, { maxUnavailable: 4 })) {
      const { rollout } = planned.pools.get('w') ?? {};
      const last = told?.generations.at(-1);
      if (rollout?.maxOnTrial === undefined || last === undefined) continue;
      const trying = told?.generations.reduce((sum, { inProbation, onTrial }) => sum + inProbation + onTrial, 0) ?? 0;
      assert.ok(trying <= rollout.maxOnTrial, `${trying} of ${rollout.maxOnTrial}`);
      assert.ok(last.maxOnTrial <= rollout.maxOnTrial, `${last.maxOnTrial} of ${rollout.maxOnTrial}`);
    }
  });

  it('are those of all nodes when it is over, the canary first', () => {
    const generations = rolloutInTime(40, { maxUnavailable: 4 }).at(-1)?.told?.generations ?? [];
    assert.deepEqual(
      generations.map(({ generation, maxOnTrial }) => [generation, maxOnTrial]),
      [
        [0, 1],
        [1, 2],
        [2, 4],
        [3, 8],
      ],
    );
    assert.equal(
      generations.reduce((sum, { promoted }) => sum + promoted, 0),
      40,
    );
    assert.equal(generations[0]?.nodes.length, 1);
  });
});

/** An hour ago; trials last ten minutes, a probation one. */
const START = NOW - 3_600_000;
const at = (seconds: number): string => toTimestamp(START + seconds * 1_000);
const SOAK_MS = 600_000;
const PROBATION_MS = 60_000;
const ROLLOUT: RolloutSpec = { ...poolSpec().rollout, probation: '60s', soak: '10m', maxOnTrial: 8 };
const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120, { rollout: ROLLOUT })];
const NEWEST = NOW - 86_400_000;

type Said = (node: NodeView) => KubeletNode | undefined;

const trialSince = (seconds: number, healthySeconds = 0) => ({
  config: NEXT.configName,
  since: at(seconds),
  healthySeconds,
  durationSeconds: 600,
  restarts: 0,
});
/** Began so long after the rollout did, and was healthy for so long. */
const tries =
  (seconds: number, healthySeconds = 0): Said =>
  (node) =>
    assignedNode(node, NEXT, {
      phase: 'Trial',
      active: { name: NEXT.configName, sha256: NEXT.sha256, apply: 'overlay' },
      trial: trialSince(seconds, healthySeconds),
    });
const promoted =
  (seconds: number): Said =>
  (node) =>
    settledNode(node, NEXT, { promotedAt: at(seconds) });
const failed =
  (seconds: number): Said =>
  (node) => {
    const why = { reason: 'CrashLoop', message: 'exit-code 1', at: at(seconds) };
    const blamed = { name: NEXT.configName, sha256: NEXT.sha256, apply: 'overlay', ...why } as const;
    return { ...failedNode(node, NEXT), status: { ...failedNode(node, NEXT).status, rejected: [blamed] } };
  };
/** Ran it already when it was told. */
const adopted: Said = (node) => {
  const { promotedAt: _, ...status } = settledNode(node, NEXT).status ?? {};
  return { ...settledNode(node, NEXT), status };
};
const silent: Said = (node) => {
  const { status: _, ...told } = assignedNode(node, NEXT);
  return told;
};

const member = (name: string, says: Said, view: Partial<NodeView> = {}, isLeaving = false): Member => {
  const node = nodeView(name, 'workers', { createdAt: NEWEST, ...view });
  const target = isLeaving ? null : targetOf(desiredPool(NEXT));
  return memberOf(node, says(node), target, SOAK_MS, NOW, undefined, PROBATION_MS);
};

const MEMORY: RolloutMemory = {
  halt: null,
  released: null,
  settled: null,
  proof: null,
  rollout: {
    configName: NEXT.configName,
    sha256: NEXT.sha256,
    startedAt: at(0),
    newest: toTimestamp(NEWEST),
    waves: [],
  },
};
const ofPool = (members: readonly Member[], rollout = ROLLOUT): Group => ({
  pool: desiredPool({ ...NEXT, spec: { ...NEXT.spec, rollout } }),
  members,
});
const told = (group: Group, memory = MEMORY): readonly string[] => inWords(generationsIn({ group, memory }));

describe('the generations of a pool', () => {
  const ALONE: readonly (readonly [string, Said, string | null])[] = [
    ['has settled', promoted(700), '0/0/1/0'],
    ['soaks', promoted(3_300), '0/0/1/0'],
    ['is in its probation', tries(10, 59), '1/0/0/0'],
    ['is past its probation', tries(10, 60), '0/1/0/0'],
    ['took the payload back', failed(20), '0/0/0/1'],
    ['is broken, and does not say since when', (node) => assignedNode(node, NEXT, { phase: 'Broken' }), null],
    ['was told, and has yet to begin', (node) => assignedNode(node, NEXT), null],
    ['has yet to be told', (node) => idleNode(node), null],
    ['tries what it was told before', (node) => assignedNode(node, OLD, tries(10)(node)?.status), null],
    ['ran it already', adopted, null],
    ['has no agent', () => undefined, null],
    ['has an agent that has yet to say something', silent, null],
    ['had it before the rollout began', promoted(-1), null],
    ['promoted it as the rollout began', promoted(0), '0/0/1/0'],
    ['had begun before the rollout, and promoted it since', promoted(1), '0/0/1/0'],
  ];
  for (const [name, says, counts] of ALONE) {
    it(`${counts === null ? 'leave out' : 'have'} a node that ${name}`, () => {
      assert.deepEqual(told(ofPool([member('a', says)])), counts === null ? [] : [`0 of 1: a ${counts}`]);
    });
  }

  it('are of the nodes that were there when the rollout began, without those that leave the pool', () => {
    const leaves: Said = (node) => idleNode(node, { phase: 'FallingBack', trial: trialSince(5) });
    const late = member('late', tries(20), { createdAt: NOW });
    assert.deepEqual(told(ofPool([member('a', tries(10)), late, member('left', leaves, {}, true)])), [
      '0 of 1: a 1/0/0/0',
    ]);
  });

  for (const [name, second, counts] of [
    ['has yet to promote', tries(800, 60), '1/1/0/0'],
    ['promoted by now', promoted(1_400), '1/0/1/0'],
  ] as const) {
    it(`double once a node was past its probation that ${name}`, () => {
      const members = [
        member('a', promoted(700)),
        member('b', second),
        member('c', tries(859)),
        member('d', tries(860)),
      ];
      assert.deepEqual(told(ofPool(members)), ['0 of 1: a 0/0/1/0', `1 of 2: b c ${counts}`, '2 of 4: d 1/0/0/0']);
    });
  }

  it('are absent where the pool is unknown, without a rollout, and with a full probation', () => {
    const { rollout } = MEMORY;
    const members = [member('a', promoted(700))];
    assert.equal(told(ofPool(members)).length, 1);
    assert.deepEqual(told({ pool: null, members }), []);
    assert.deepEqual(told(ofPool(members), { ...MEMORY, rollout: null }), []);
    assert.deepEqual(told(ofPool(members), { ...MEMORY, rollout: rollout && { ...rollout, startedAt: '' } }), []);
    assert.deepEqual(told(ofPool(members, { ...ROLLOUT, probation: 'full' })), []);
  });
});
