import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analysisOf, measureSteps } from '#reconciler/policy/rollout/rollout-analysis.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { AnalysisSpec, AnalysisStatus, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { MeasuredWindow } from '#shared/contract/api/measures.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { desiredPool, idleNode, nodeView, NOW, poolSpec, settledNode, validPool } from '../../../support/fleet.ts';
import { WAVES } from './support/hold-question.ts';

const SPEC: AnalysisSpec = { timeout: '30m' };
const EARLIER = 'e'.repeat(64);

const validOf = (analysis: AnalysisSpec | undefined) =>
  validPool('workers', 120, { rollout: { ...poolSpec().rollout, ...(analysis === undefined ? {} : { analysis }) } });
const poolOf = (analysis: AnalysisSpec | undefined = SPEC) => desiredPool(validOf(analysis));

const SINCE = toTimestamp(NOW - 3_600_000);

/** The way of the payload that is tried. */
const rolloutOf = (analysis?: AnalysisStatus): RolloutStatus => {
  const { sha256 } = validOf(SPEC);
  const way = { configName: 'workers-x', sha256, startedAt: SINCE, waves: [] };
  return analysis === undefined ? way : { ...way, analysis };
};
const MARK = `${validOf(SPEC).sha256.slice(0, 40)}@${SINCE}`;

const minutes = (sha256: string): MeasuredWindow => ({ sha256, seconds: 540, values: { cpu: 0.1 } });

/** A node that measured the same before and now, with what is so of it towards the payload. */
function member(name: string, is: Partial<Member>, annotation: string | undefined = EARLIER): Member {
  const pool = validOf(SPEC);
  const node = nodeView(name, 'workers');
  const isCanary = is.lifecycle === LIFECYCLE.settled;
  const measures = { mark: MARK, before: minutes('old'), now: minutes(isCanary ? pool.sha256 : 'old') };
  const reported = isCanary ? settledNode(node, pool, { measures }) : idleNode(node, { measures });
  const annotations = annotation === '' ? {} : { [MEASURE_ANNOTATION]: annotation };
  const kubeletNode = { ...reported, metadata: { ...reported.metadata, annotations } };
  const target = { sha256: pool.sha256, apply: 'overlay' } as const;
  return { ...memberOf(node, kubeletNode, target, 0, NOW), isAssigned: false, ...is };
}

/** A node that waits, and those that something else keeps busy. */
const KINDS = {
  waits: { lifecycle: LIFECYCLE.outdated },
  'asks for a restart with what it was told': { lifecycle: LIFECYCLE.awaitsTurn, isAssigned: true },
  'is in the middle of another change': { lifecycle: LIFECYCLE.superseded },
  'is on trial': { lifecycle: LIFECYCLE.changing, isAssigned: true },
  'refused it beforehand': { lifecycle: LIFECYCLE.failed },
  'has proven it': { lifecycle: LIFECYCLE.settled, isAssigned: true },
} as const satisfies Record<string, Partial<Member>>;

const wave = (name: string, state: WaveStatus['state']): WaveStatus => ({ name, nodes: 1, state });
const CANARY_DONE = [wave('canary', 'done'), wave('rest', 'waiting')];

function analysed({
  pool = poolOf(),
  kinds = ['has proven it', 'waits'],
  waves = CANARY_DONE,
  isOver = false,
  before,
}: {
  readonly pool?: ReturnType<typeof poolOf> | null;
  readonly kinds?: readonly (keyof typeof KINDS)[];
  readonly waves?: readonly WaveStatus[];
  readonly isOver?: boolean;
  readonly before?: AnalysisStatus;
}): AnalysisStatus | undefined {
  const members = kinds.map((kind, index) => member(`n${index}`, KINDS[kind]));
  const cohort = { members, names: new Set<string>(), newest: 0 };
  const progress = { ...WAVES, waves, ...(isOver ? { current: null } : {}) };
  return analysisOf({ pool, members }, cohort, progress, rolloutOf(before), NOW, undefined);
}

describe('the canaries of a pool', () => {
  for (const kind of Object.keys(KINDS) as readonly (keyof typeof KINDS)[]) {
    const counts = kind === 'waits';
    it(`are ${counts ? 'compared' : 'not compared'} with a node that ${kind}`, () => {
      const [alone, beside] = [['has proven it'], ['has proven it', kind]] as const;
      const canaries = kind === 'has proven it' ? '2 nodes' : '1 node';
      assert.match(analysed({ kinds: alone })?.message ?? '', /^1 node compared with 0 nodes/);
      const expected = `${canaries} compared with ${counts ? '1 node' : '0 nodes'} that wait`;
      assert.equal(analysed({ kinds: beside })?.message, expected);
    });
  }

  for (const [what, given] of [
    ['before their wave is done', () => ({ waves: [wave('canary', 'soaking'), wave('rest', 'waiting')] })],
    ['where there are none', () => ({ waves: [wave('step 1', 'done'), wave('rest', 'waiting')] })],
    ['where the pool does not ask', () => ({ pool: desiredPool(validOf(undefined)) })],
    ['where the pool has no config', () => ({ pool: { ...poolOf(), config: null } })],
    ['where nobody knows the pool', () => ({ pool: null })],
  ] as readonly (readonly [string, () => Parameters<typeof analysed>[0]])[]) {
    it(`are not compared ${what}`, () => assert.equal(analysed(given()), undefined));
  }

  it('are compared when all waves are done only where a node waits for that, and where it had begun', () => {
    const before = { verdict: 'waiting', since: toTimestamp(NOW - 1000), message: 'n0 is young' } as const;
    assert.equal(analysed({ before, isOver: true, kinds: ['has proven it'] }), before);
    assert.equal(analysed({ before, isOver: true })?.verdict, 'pass');
    assert.equal(analysed({ isOver: true }), undefined);
    assert.equal(analysed({ before })?.verdict, 'pass');
  });
});

describe('a pool that compares its canaries', () => {
  /** By name, the mark that each node is given. */
  const marked = (
    pool: ReturnType<typeof poolOf> | null,
    members: readonly Member[],
    rollout: RolloutStatus | null = rolloutOf(),
  ) =>
    measureSteps({ pool, members }, rollout).map((step) => {
      assert.ok(step.step === 'remember');
      return [step.node, step.annotations[MEASURE_ANNOTATION]] as const;
    });

  for (const [kind, is] of Object.entries(KINDS)) {
    it(`${kind === 'waits' ? 'begins' : 'does not begin'} a new window on a node that ${kind}`, () => {
      const expected = kind === 'waits' ? [['n0', MARK]] : [];
      assert.deepEqual(marked(poolOf(), [member('n0', is), member('c', KINDS['is on trial'])]), expected);
    });

    it(`has a node measure that ${kind}, where it does not yet`, () => {
      assert.deepEqual(marked(poolOf(), [member('n0', is, '')]), [['n0', MARK]]);
    });
  }

  it('begins no new window before a canary was told: it may wait for a window of its own', () => {
    assert.deepEqual(marked(poolOf(), [member('n0', KINDS.waits), member('c', KINDS.waits)]), []);
  });

  it('begins another window where the same payload is tried once more', () => {
    const again = { ...rolloutOf(), startedAt: toTimestamp(NOW) };
    const members = [member('n0', KINDS.waits, MARK), member('c', KINDS['is on trial'])];
    assert.deepEqual(marked(poolOf(), members), []);
    const [[, mark] = []] = marked(poolOf(), members, again);
    assert.notEqual(mark, MARK);
    assert.ok((mark?.length ?? 0) <= 64, 'the CRD takes no more');
  });

  for (const [what, rollout] of [
    ['no rollout yet', null],
    ['the rollout of another payload', { ...rolloutOf(), sha256: 'f'.repeat(64) }],
  ] as const) {
    it(`leaves all as it is where there is ${what}`, () => {
      assert.deepEqual(marked(poolOf(), [member('n0', KINDS.waits), member('n1', KINDS.waits, '')], rollout), []);
    });
  }

  it('has no node measure that has no object', () => {
    assert.deepEqual(marked(poolOf(), [{ ...member('n0', KINDS.waits), kubeletNode: undefined }]), []);
  });

  for (const [what, pool] of [
    ['it does not ask', () => desiredPool(validOf(undefined))],
    ['it asks for no measure of agents', () => poolOf({ ...SPEC, measures: [] })],
    ['it has no config', () => ({ ...poolOf(), config: null })],
    ['nobody knows it', () => null],
  ] as const) {
    it(`has no node go on measuring where ${what}`, () => {
      const members = [member('n0', KINDS.waits), member('n1', KINDS.waits, ''), member('n2', KINDS['is on trial'])];
      assert.deepEqual(Object.fromEntries(marked(pool(), members)), { n0: null, n2: null });
    });
  }
});
