import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PayloadClass } from '#reconciler/policy/payload-classes.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { waveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import type { RolloutSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { idleNode, nodeView, NOW, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';

const GIVEN = validPool('workers', 120);
const EARLIER = '2026-11-20T12:00:00Z';
const AT = toTimestamp(NOW);
const LATELY = NOW - 6 * 60_000;

interface Kind {
  readonly ready?: boolean;
  readonly isCanary?: boolean;
  readonly isGone?: boolean;
  readonly isLeaving?: boolean;
  /** For how long it has been told it, and not Ready. */
  readonly illMs?: number;
}

/** What a node may be towards the payload. */
const KINDS = {
  open: { lifecycle: LIFECYCLE.outdated, isAssigned: false },
  away: { lifecycle: LIFECYCLE.outdated, isAssigned: false, ready: false },
  silent: { lifecycle: LIFECYCLE.silent, isAssigned: false },
  /** Silent for an hour. */
  gone: { lifecycle: LIFECYCLE.silent, isAssigned: false, isGone: true },
  /** Told, and silent ever since, for an hour. */
  dead: { lifecycle: LIFECYCLE.silent, ready: false, isGone: true },
  told: { lifecycle: LIFECYCLE.changing },
  leaver: { lifecycle: LIFECYCLE.changing, isLeaving: true },
  ill: { lifecycle: LIFECYCLE.changing, ready: false, illMs: 15 * 60_000 },
  unwell: { lifecycle: LIFECYCLE.changing, ready: false, illMs: 15 * 60_000 - 1 },
  proved: { lifecycle: LIFECYCLE.settled },
  soaking: { lifecycle: LIFECYCLE.soaking, promotedAt: LATELY },
  /** Soaks on, though somebody cordoned it an hour ago. */
  cordoned: { lifecycle: LIFECYCLE.soaking, promotedAt: LATELY, isGone: true },
  fresh: { lifecycle: LIFECYCLE.settled, promotedAt: NOW },
  lost: { lifecycle: LIFECYCLE.settled, ready: false },
  failed: { lifecycle: LIFECYCLE.failed },
  refused: { lifecycle: LIFECYCLE.failed, isAssigned: false },
  canary: { lifecycle: LIFECYCLE.outdated, isAssigned: false, isCanary: true },
} as const satisfies Record<string, Partial<Member> & Kind>;

const classNamed = (name: string): PayloadClass => ({
  name,
  config: { name: `workers-${name}`, sha256: GIVEN.sha256 },
  target: { sha256: GIVEN.sha256, apply: 'overlay' },
  because: '',
});
const CLASSES: Readonly<Record<string, PayloadClass>> = {
  ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, classNamed(name)])),
  bare: { ...classNamed('bare'), config: null },
};

interface Case {
  readonly rollout?: Partial<RolloutSpec>;
  /** Kinds of nodes, one word each, and after a slash the class of machines. */
  readonly nodes: string;
  readonly spared?: number;
  readonly before?: readonly WaveStatus[];
}

function progress({ rollout, nodes, spared = 0, before }: Case) {
  const members = nodes.split(' ').flatMap((word, index): readonly Member[] => {
    const [what, ofClass = ''] = word.split('/');
    const kind = Object.entries(KINDS).find(([name]) => name === what)?.[1];
    if (kind === undefined) return [];
    const {
      ready = true,
      isCanary = false,
      isGone = false,
      isLeaving = false,
      illMs,
      ...is
    }: Partial<Member> & Kind = kind;
    const labels = { pool: 'workers', ...(isCanary ? { canary: 'yes' } : {}) };
    const gone = isGone ? { unableSince: NOW - 60 * 60_000 } : {};
    const leaving = isLeaving ? { leaving: 'it is about to be removed' } : {};
    const ill = illMs === undefined ? {} : { readySince: NOW - illMs, toldSince: NOW - illMs };
    const node = nodeView(`n${index}`, 'workers', { ready, labels, ...gone, ...leaving, ...ill });
    const target = { sha256: GIVEN.sha256, apply: 'overlay' } as const;
    const settled = settledNode(node, GIVEN);
    const kubeletNode = is.lifecycle === LIFECYCLE.settled ? settled : idleNode(node);
    return [{ ...memberOf(node, settled, target, 0, NOW), kubeletNode, payloadClass: CLASSES[ofClass], ...is }];
  });
  const status = before && { configName: GIVEN.configName, sha256: GIVEN.sha256, startedAt: EARLIER, waves: before };
  return waveProgress(
    { ...poolSpec().rollout, ...rollout },
    members,
    status satisfies RolloutStatus | undefined,
    spared,
    NOW,
  );
}

const BY_SELECTOR = { canary: { selector: { matchLabels: { canary: 'yes' } } } };
const perClass = (nodes: number): Partial<RolloutSpec> => ({ canary: { nodes, perClass: true } });
const DONE: readonly WaveStatus[] = [{ name: 'canary', nodes: 2, state: 'done', startedAt: EARLIER, doneAt: EARLIER }];
const steps = (...nodes: readonly (number | string)[]): Partial<RolloutSpec> => ({
  steps: nodes.map((each) => ({ nodes: each })),
});

/** What a wave does; its nodes, by their kinds; the waves that come of them, and how many more may begin. */
type Row = readonly [string, Case['nodes'], waves: string, Omit<Case, 'nodes'>?];

function describeWaves(title: string, rollout: Partial<RolloutSpec>, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [name, nodes, waves, more] of rows) {
      it(name, () => {
        const found = progress({ nodes, rollout, ...more });
        const said = found.waves.map((each) => `${each.name} ${each.nodes} ${each.state}`);
        assert.equal(`${said.join(', ')}: ${found.room}`, waves);
        const isDone = found.waves.every(({ state }) => state === 'done');
        assert.equal(found.current === null, isDone);
      });
    }
  });
}

describeWaves('a wave', {}, [
  ['waits while nobody was told', 'open open open', 'rest 3 waiting: 3'],
  ['rolls when the first was told', 'told open open', 'rest 3 rolling: 2'],
  ['soaks when all were told', 'told told told', 'rest 3 soaking: 0'],
  ['is done when all have proven it', 'proved proved', 'rest 2 done: 0'],
  ['soaks for its own time', 'fresh', 'rest 1 soaking: 0', { rollout: { soak: '5m' } }],
  [
    'is done after its own time, though the pool holds places longer',
    'soaking',
    'rest 1 done: 0',
    { rollout: { soak: '5m' } },
  ],
  ['is stopped by a node that is not Ready any more', 'lost proved proved', 'rest 3 stopped: 0'],
  ['is stopped by a node that failed', 'failed proved proved', 'rest 3 stopped: 0'],
  ['is stopped by a node that refused it beforehand', 'refused proved proved', 'rest 3 stopped: 0'],
  ['does without as many as may fail', 'failed proved proved', 'rest 3 done: 0', { spared: 1 }],
  ['does not do without one that is not Ready', 'lost proved proved', 'rest 3 soaking: 0', { spared: 1 }],
  [
    'has another node begin for one that failed, where that may be',
    'failed proved open open',
    'step 1 2 rolling, rest 4 waiting: 1',
    { rollout: steps(2), spared: 1 },
  ],
  ['does not do without those that are at it', 'proved told told', 'rest 3 soaking: 0', { spared: 2 }],
  ['is stopped where all are lost, however many may be', 'lost lost lost', 'rest 3 stopped: 0', { spared: 5 }],
  ['goes on where some are lost that may be', 'lost lost open', 'rest 3 rolling: 1', { spared: 2 }],
  ['does not do without nodes that cannot be told now', 'proved proved proved away silent', 'rest 5 soaking: 0'],
  ['ends without those that could not for an hour', 'proved proved proved gone gone', 'rest 5 done: 0'],
  ['does not end where half of the pool could not', 'proved proved gone gone', 'rest 4 soaking: 0'],
  ['ends without one that died in its trial', 'proved proved proved dead', 'rest 4 done: 0'],
  ['does not end where two died in their trials', 'proved proved proved dead dead', 'rest 5 stopped: 0'],
  [
    'ends where as many died as may fail, and no others are left',
    'proved proved proved dead dead',
    'rest 5 done: 0',
    { spared: 2 },
  ],
  [
    'takes nobody who died for another who is at it',
    'proved proved proved dead told',
    'rest 5 soaking: 0',
    { spared: 1 },
  ],
  [
    'has another node begin for one that died in its trial, where that may be',
    'dead proved open open',
    'step 1 2 rolling, rest 4 waiting: 1',
    { rollout: steps(2), spared: 1 },
  ],
  [
    'does not end without one that soaks, however long it is cordoned',
    'proved proved proved cordoned',
    'rest 4 soaking: 0',
    { rollout: { soak: '10m' } },
  ],
  [
    'of a step waits for those that could not for an hour, though no others are left',
    'proved proved gone',
    'step 1 3 soaking, rest 3 waiting: 0',
    { rollout: steps('100%') },
  ],
  [
    'of a step does not end without nodes while another one is at it',
    'proved proved proved told gone',
    'step 1 4 soaking, rest 5 waiting: 0',
    { rollout: steps(4) },
  ],
  ['does not end while another one can be told', 'proved proved proved gone open', 'rest 5 rolling: 1'],
  ['waits where nobody can be told', 'silent away', 'rest 2 waiting: 0'],
  [
    'soaks on where nobody can be told any more',
    'silent',
    'rest 1 soaking: 0',
    { before: [{ name: 'rest', nodes: 1, state: 'rolling', startedAt: EARLIER }] },
  ],
  [
    'of a step does not do without nodes, however long they cannot be told',
    'proved gone gone',
    'step 1 2 soaking, rest 3 waiting: 0',
    { rollout: steps(2) },
  ],
  [
    'of canaries does not do without nodes',
    'proved away',
    'canary 2 rolling, rest 2 waiting: 1',
    { rollout: { canary: { nodes: 2 } } },
  ],
  [
    'of canaries by selector is theirs alone',
    'canary proved',
    'canary 1 waiting, rest 2 waiting: 1',
    { rollout: BY_SELECTOR },
  ],
  [
    'begins when one more than in the wave before was told',
    'proved told open',
    'step 1 1 done, step 2 2 soaking, rest 3 waiting: 0',
    { rollout: steps(1, 2) },
  ],
  [
    'waits while nobody more was told',
    'proved open open',
    'step 1 1 done, step 2 2 waiting, rest 3 waiting: 1',
    { rollout: steps(1, 2) },
  ],
  [
    'is never smaller than the one before, whatever counts and percentages come to',
    'open open open open',
    'step 1 1 waiting, step 2 2 waiting, step 3 3 waiting, rest 4 waiting: 1',
    { rollout: steps(3, '25%', 2) },
  ],
  ['is a share, rounded up', 'open open open', 'step 1 2 waiting, rest 3 waiting: 2', { rollout: steps('34%') }],
  [
    'stays done, whatever becomes of its nodes',
    'lost open',
    'step 1 1 done, rest 2 waiting: 1',
    { rollout: steps(1), before: [{ name: 'step 1', nodes: 1, state: 'done', startedAt: EARLIER, doneAt: EARLIER }] },
  ],
  [
    'of canaries is so many of each class where it says so',
    'open/a open/a open/b',
    'canary 2 waiting, rest 3 waiting: 2',
    { rollout: perClass(1) },
  ],
  [
    'of canaries is so many of the pool where that computes nothing',
    'open open',
    'canary 1 waiting, rest 2 waiting: 1',
    { rollout: perClass(1) },
  ],
  [
    'of canaries of each class does without as many as may be lost',
    'proved/a failed/a proved/b proved/b',
    'canary 4 done, rest 4 done: 0',
    { rollout: perClass(2), spared: 1 },
  ],
]);
describeWaves('a wave of canaries', { canary: { nodes: 1 } }, [
  ['is not done without nodes', '', 'canary 0 waiting, rest 0 waiting: 0'],
  ['tries another one in the place of one that died', 'dead open open', 'canary 1 rolling, rest 3 waiting: 1'],
  [
    'tries another one in the place of one that is about to be removed',
    'leaver open open',
    'canary 1 rolling, rest 3 waiting: 1',
  ],
  [
    'tries another one in the place of one that was not Ready for a quarter of an hour',
    'ill open open',
    'canary 1 rolling, rest 3 waiting: 1',
  ],
  ['waits for one that was not Ready for less', 'unwell open open', 'canary 1 stopped, rest 3 waiting: 0'],
  [
    'tries no third one where two died and the pool puts up with none',
    'dead dead open',
    'canary 1 stopped, rest 3 waiting: 0',
  ],
  [
    'tries a third one where the pool puts up with two',
    'dead dead open',
    'canary 1 rolling, rest 3 waiting: 1',
    { spared: 2 },
  ],
  ['is done by the one in the place of another', 'dead proved open', 'canary 1 done, rest 3 rolling: 1'],
  ['is so many of the pool, though it has classes', 'open/a open/b', 'canary 1 waiting, rest 2 waiting: 1'],
]);
describeWaves('a wave of canaries of each class', perClass(1), [
  ['tries another one in the place of one that died', 'dead/a open/a told/b', 'canary 2 rolling, rest 3 waiting: 1'],
  ['asks none of a class without a config', 'open/a open/bare', 'canary 1 waiting, rest 2 waiting: 1'],
  ['takes none of one for another', 'proved/a proved/a told/a open/b', 'canary 2 rolling, rest 4 waiting: 1'],
  ['soaks until each has proven it', 'proved/a proved/a told/b', 'canary 2 soaking, rest 3 waiting: 0'],
  ['is done when each has proven it', 'proved/a open/a proved/b', 'canary 2 done, rest 3 waiting: 1'],
  ['does without classes that cannot be told', 'proved/a away/b', 'canary 2 done, rest 2 waiting: 0'],
  ['does not do without all of them', 'away/a away/b', 'canary 2 waiting, rest 2 waiting: 0'],
  ['is stopped by one of them', 'failed/a open/b', 'canary 2 stopped, rest 2 waiting: 1'],
]);

const UNTRIED = 'no node with b has proven the config of its class yet';

describe('what a wave lets begin, and says', () => {
  for (const [name, given, classes] of [
    ['any class where canaries are those of the pool', { nodes: 'open/a', rollout: { canary: { nodes: 1 } } }, []],
    [
      'each class until it has its canaries',
      { nodes: 'told/a told/a open/b open/b', rollout: perClass(1) },
      [
        'a 0: wave canary must prove itself first in each class: 0 of 2 have, not yet a; b',
        'b 1: wave canary must prove itself first in each class: 0 of 2 have, not yet a; b',
      ],
    ],
    [
      'a class afterwards that nobody has proven it for',
      { nodes: 'proved/a open/a open/b open/b', rollout: perClass(1), before: DONE },
      [`b 1: ${UNTRIED}`],
    ],
    [
      'no more of it while its canary is at it',
      { nodes: 'proved/a open/a told/b open/b', rollout: perClass(1), before: DONE },
      [`b 0: ${UNTRIED}`],
    ],
    [
      'another one of it for each that failed, while that may be',
      { nodes: 'proved/a failed/b failed/b open/b', rollout: perClass(1), before: DONE, spared: 2 },
      [`b 1: ${UNTRIED}`],
    ],
    [
      'another one of it in the place of one that died',
      { nodes: 'proved/a dead/b open/b', rollout: perClass(1), before: DONE },
      [`b 1: ${UNTRIED}`],
    ],
    [
      'no more of it where more failed',
      { nodes: 'proved/a failed/b failed/b open/b', rollout: perClass(1), before: DONE, spared: 1 },
      [`b 0: ${UNTRIED}`],
    ],
  ] as const) {
    it(`lets begin of ${name}`, () => {
      const found = progress(given).classes.map(({ payloadClass, room, because }) => [
        payloadClass.name,
        room,
        because,
      ]);
      assert.deepEqual(
        found.map(([of, room, why]) => `${of} ${room}: ${why}`),
        classes,
      );
    });
  }

  it('says when it began and was done, and keeps that', () => {
    const wave = { name: 'rest', nodes: 1 } as const;
    assert.deepEqual(progress({ nodes: 'open' }).waves, [{ ...wave, state: 'waiting' }]);
    assert.deepEqual(progress({ nodes: 'told' }).waves, [{ ...wave, state: 'soaking', startedAt: AT }]);
    const begun = { ...wave, state: 'rolling', startedAt: EARLIER } as const;
    assert.deepEqual(progress({ nodes: 'told', before: [begun] }).waves, [{ ...begun, state: 'soaking' }]);
    const done = { ...begun, state: 'done', doneAt: AT } as const;
    assert.deepEqual(progress({ nodes: 'proved', before: [begun] }).waves, [done]);
    const short = progress({ nodes: 'proved away', rollout: steps(1) }).waves[0];
    assert.deepEqual(short, { name: 'step 1', nodes: 1, state: 'done', startedAt: AT, doneAt: AT });
    assert.deepEqual(progress({ nodes: 'open', before: [{ ...done, doneAt: EARLIER }] }).waves, [
      { ...done, doneAt: EARLIER },
    ]);
  });

  it('says what it waits for', () => {
    assert.equal(progress({ nodes: 'proved open' }).because, 'wave rest must prove itself first: 1 of 2 nodes have');
    assert.equal(
      progress({ nodes: 'lost open' }).because,
      'wave rest must prove itself first: 0 of 2 nodes have; failed or not Ready: n0',
    );
    assert.equal(
      progress({ nodes: 'open', rollout: BY_SELECTOR }).because,
      'no node of the pool matches the selector of its canaries',
    );
    assert.equal(
      progress({ nodes: 'canary', rollout: BY_SELECTOR }).because,
      'wave canary must prove itself first: 0 of 1 nodes have',
    );
    assert.equal(
      progress({ nodes: 'failed/a open/b open/c open/d open/e', rollout: perClass(1) }).because,
      'wave canary must prove itself first in each class: 0 of 5 have, not yet a; b; c and 2 more; failed or not Ready: n0',
    );
    assert.equal(
      progress({ nodes: 'away/a away/b', rollout: perClass(1) }).because,
      'wave canary must prove itself first, and no node of any class can be changed now',
    );
  });
});
