import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { cohortOf } from '#reconciler/policy/rollout/cohort.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { OnTrial } from '#reconciler/policy/rollout/on-trial.ts';
import { waveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { rememberRollout } from '#reconciler/policy/rollout/rollout-status.ts';
import type { Halt, KubeletPoolStatus, RolloutSpec, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { commit, COMMIT_B, fleetOf, nodeView, NOW, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';
import { WAVES } from './support/hold-question.ts';

const AT = toTimestamp(NOW);
const EARLIER = '2026-11-20T12:00:00Z';
const CREATED = toTimestamp(NOW - 86_400_000);
const GIVEN = validPool('workers', 120);
const OTHER = validPool('workers', 110);
const HALT: Halt = { config: GIVEN.configName, sha256: GIVEN.sha256, at: AT, message: '', action: 'halt' };
const waves: readonly WaveStatus[] = [{ name: 'rest', nodes: 1, state: 'rolling' }];
const about = { configName: GIVEN.configName, sha256: GIVEN.sha256 };
const settledOn = (at: string) => ({ ...about, apply: 'overlay' as const, at });

interface Case {
  /** The nodes of the rollout, each by what is so of it. */
  readonly nodes: readonly (Partial<Member> & { readonly view?: Partial<NodeView> })[];
  readonly before?: KubeletPoolStatus;
  readonly halt?: Halt;
  readonly rollout?: Partial<RolloutSpec>;
  readonly onTrial?: OnTrial;
  /** The pool left git. */
  readonly leaves?: true;
}

function remembered({ nodes, before, halt: halted, rollout, onTrial, leaves }: Case) {
  const halt = halted ?? null;
  const spec = { rollout: { ...poolSpec().rollout, ...rollout } };
  const present = { metadata: { name: 'workers' }, spec: poolSpec(spec) };
  const inForce = commit(COMMIT_B, ...(leaves === true ? [] : [validPool('workers', 120, spec)]));
  const pool = desiredState(inForce, fleetOf({ pools: [present] }), () => []).pools.get('workers') ?? null;
  const members = nodes.map(({ view = {}, ...is }, index): Member => {
    const node = nodeView(`n${index}`, 'workers', view);
    return { ...memberOf(node, settledNode(node, GIVEN), targetOf(pool), 0, NOW), ...is };
  });
  const cohort = cohortOf(members, undefined, undefined);
  const shown = waveProgress({ ...poolSpec().rollout, ...rollout }, members, undefined, 1, NOW);
  const group = { pool, members };
  return rememberRollout(
    { ...group, proof: poolProof(group, { status: before, isOwn: true }, NOW) },
    before,
    { halt, released: null, waves: halt === null ? { ...WAVES, ...shown, waves } : null, cohort, onTrial },
    NOW,
  );
}

const under = (...states: readonly WaveStatus['state'][]): KubeletPoolStatus => ({
  rollout: { ...about, startedAt: EARLIER, waves: states.map((state) => ({ name: state, nodes: 1, state })) },
});
const pending = { lifecycle: LIFECYCLE.outdated, isAssigned: false } as const;
const TWO: OnTrial = {
  names: ['n0', 'n1'],
  superseded: [],
  allowed: 4,
  by: 'maxOnTrial',
  generation: 2,
  isProven: true,
  failed: [],
};

describe('what is remembered of a rollout', () => {
  const begun = { ...about, startedAt: AT, newest: CREATED, waves };
  const REPLACED = { rollout: { ...begun, configName: OTHER.configName, sha256: OTHER.sha256 } };
  const OVER = { settled: settledOn(EARLIER), rollout: { ...begun, startedAt: EARLIER, finishedAt: EARLIER } };
  const ENDED = { ...begun, finishedAt: AT };
  const PENDING = [pending];
  const REDUCED = { failed: 1, maxOnTrial: 4, begun: 7 };
  const rows: readonly (readonly [string, Case, KubeletPoolStatus['rollout'] | null, KubeletPoolStatus['settled']?])[] =
    [
      ['is when it began, and the newest of its nodes', { nodes: PENDING }, begun],
      ['is no newest node where there is none', { nodes: [] }, { ...about, startedAt: AT, waves }],
      [
        'is how many are on trial, of how many that may be by now',
        { nodes: PENDING, onTrial: TWO },
        { ...begun, generation: 2, maxOnTrial: 4, onTrial: 2 },
      ],
      [
        'is nothing of that where the budget says it all',
        { nodes: PENDING, onTrial: { ...TWO, by: 'maxUnavailable' } },
        begun,
      ],
      ['nor where any number may be', { nodes: PENDING, onTrial: { ...TWO, allowed: Infinity } }, begun],
      [
        'is what failures have made of that',
        { nodes: PENDING, onTrial: { ...TWO, reduced: REDUCED } },
        { ...begun, generation: 2, maxOnTrial: 4, onTrial: 2, reduced: REDUCED },
      ],
      [
        'is that it replaced one that was not proven',
        { nodes: PENDING, before: REPLACED },
        { ...begun, superseded: 1 },
      ],
      [
        'counts those that were replaced in a row',
        { nodes: PENDING, before: { rollout: { ...REPLACED.rollout, superseded: 2 } } },
        { ...begun, superseded: 3 },
      ],
      [
        'keeps their number',
        { nodes: PENDING, before: { rollout: { ...begun, superseded: 3 } } },
        { ...begun, superseded: 3 },
      ],
      [
        'forgets them where the one before had ended',
        { nodes: PENDING, before: { rollout: { ...REPLACED.rollout, finishedAt: EARLIER, superseded: 2 } } },
        begun,
      ],
      [
        'forgets them when it ends',
        { nodes: [{}], before: { rollout: { ...begun, superseded: 3 } } },
        ENDED,
        settledOn(AT),
      ],
      ['nor when it ended', { nodes: [{}], onTrial: TWO }, ENDED, settledOn(AT)],
      ['is when it ended, and that the pool settled on it', { nodes: [{}] }, ENDED, settledOn(AT)],
      ['stays from look to look', { nodes: [{}], before: OVER }, OVER.rollout, settledOn(EARLIER)],
      [
        'stays that it ended where a node is told once more',
        { nodes: PENDING, before: OVER },
        OVER.rollout,
        settledOn(EARLIER),
      ],
      [
        'begins again with another payload',
        {
          nodes: PENDING,
          before: { rollout: { ...begun, sha256: OTHER.sha256, startedAt: EARLIER, finishedAt: EARLIER } },
        },
        begun,
      ],
      [
        'goes no further where it is halted',
        { nodes: [{}], halt: HALT, before: under('done', 'rolling', 'soaking', 'waiting', 'stopped') },
        {
          ...about,
          startedAt: EARLIER,
          waves: (['done', 'rolling', 'soaking', 'waiting', 'stopped'] as const).map((name) => ({
            name,
            nodes: 1,
            state: name === 'rolling' || name === 'soaking' ? 'stopped' : name,
          })),
        },
      ],
      ['is nothing where it is halted before it began', { nodes: [{}], halt: HALT }, null],
      [
        'stays as it was where the pool leaves git',
        { nodes: [], leaves: true, before: { ...under('rolling'), settled: settledOn(EARLIER) } },
        under('rolling').rollout,
        settledOn(EARLIER),
      ],
    ];
  for (const [name, given, rollout, settled = null] of rows) {
    it(name, () => {
      const found = remembered(given);
      assert.deepEqual([found.rollout, found.settled], [rollout, settled]);
    });
  }
});

describe('what a pool has proven', () => {
  it('is what those show that stay in it, whichever node leaves', () => {
    const { proof } = remembered({ nodes: [{ target: null }, {}, {}] });
    const [only] = proof?.classes ?? [];
    const proven = proof?.payloads[only?.proven ?? -1];
    assert.deepEqual([only?.state, only?.nodes, proven], ['proven', 2, GIVEN.sha256]);
  });
});

describe('a pool has settled', () => {
  const asks = {
    ...pending,
    lifecycle: LIFECYCLE.awaitsTurn,
    turnRequest: { reason: 'NewBase', seen: 's', message: '' },
  } as const;
  const rows: readonly (readonly [string, Case, boolean])[] = [
    ['when all have proven it', { nodes: [{}, { lifecycle: LIFECYCLE.settled }] }, true],
    ['though one that has proven it asks for a restart', { nodes: [{}, asks] }, true],
    ['though one failed, where the pool puts up with it', { nodes: [{}, { lifecycle: LIFECYCLE.failed }] }, true],
    ...(
      [
        ['has no agent', { lifecycle: LIFECYCLE.silent }, {}],
        ['is not Ready and waits', pending, { ready: false }],
        ['was cordoned by somebody', pending, { cordoned: true }],
      ] as const
    ).flatMap(([what, is, view]): (readonly [string, Case, boolean])[] => {
      const gone = (minutes: number): Member & { view: Partial<NodeView> } =>
        ({ ...is, view: { ...view, unableSince: NOW - minutes * 60_000 } }) as never;
      return [
        [`not while one ${what}`, { nodes: [{}, {}, gone(59)] }, false],
        [`though one ${what} for an hour`, { nodes: [{}, {}, gone(60)] }, true],
        [`not where half of the pool ${what} for an hour`, { nodes: [{}, gone(60)] }, false],
      ];
    }),
    ['not while one is to follow', { nodes: [{}, pending] }, false],
    ['not while one tries it', { nodes: [{}, { lifecycle: LIFECYCLE.changing }] }, false],
    [
      'not while one tries it and is not Ready',
      { nodes: [{}, { lifecycle: LIFECYCLE.changing, view: { ready: false } }] },
      false,
    ],
    [
      'not while one soaks',
      { nodes: [{}, { lifecycle: LIFECYCLE.soaking, promotedAt: NOW }], rollout: { soak: '5m' } },
      false,
    ],
    [
      'not while one is not Ready that is changed all the same',
      { nodes: [{}, { ...pending, view: { ready: false } }], rollout: { notReadyNodes: 'change' } },
      false,
    ],
    ['not where nobody has it', { nodes: [{ lifecycle: LIFECYCLE.silent }, { lifecycle: LIFECYCLE.failed }] }, false],
    ['not without nodes', { nodes: [] }, false],
  ];
  for (const [name, given, has] of rows) it(name, () => assert.equal(remembered(given).settled !== null, has));
});
