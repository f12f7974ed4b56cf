import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { cohortOf } from '#reconciler/policy/rollout/cohort.ts';
import { haltOf } from '#reconciler/policy/rollout/halt.ts';
import type { Member } from '#reconciler/policy/rollout/membership.ts';
import { waveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { readProof } from '#reconciler/policy/proof/record.ts';
import { rememberRollout } from '#reconciler/policy/rollout/rollout-status.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  failedNode,
  fleetOf,
  idleNode,
  NOW,
  poolSpec,
  settledNode,
} from '../../../support/fleet.ts';
import {
  AT,
  classOf,
  given,
  groupOf,
  HUGE,
  LARGE,
  nameOf,
  computedPool,
  type Row,
  provenBy,
  SMALL,
} from '../../../support/rollout/separate-classes.ts';
import { WAVES } from './support/hold-question.ts';
import { sizedNode } from '../../../support/rollout/sized-pool.ts';

const proved = (view: Row['view']): Row => ({ view, is: settledNode(view, given(view)) });
const tries = (view: Row['view']): Row => ({ view, is: assignedNode(view, given(view), { phase: 'Trial' }) });

/** By name, what the classes of the pool have proven, as its status is to say it. */
function recorded(rows: readonly Row[], before?: KubeletPoolStatus, change = (member: Member): Member => member) {
  const { pool, members: standing } = groupOf(rows);
  const group = { pool, members: standing.map(change) };
  const able = group.members.filter(({ unrendered }) => unrendered === undefined);
  const cohort = cohortOf(able, undefined, undefined);
  const waves = waveProgress(poolSpec().rollout, able, undefined, 0, NOW);
  const memory = rememberRollout(
    { ...group, proof: poolProof(group, { status: before, isOwn: true }, NOW) },
    before,
    { halt: null, released: null, waves: { ...WAVES, current: waves.current }, cohort },
    NOW,
  );
  return { ...memory, classes: readProof({ proof: memory.proof ?? undefined } as KubeletPoolStatus) };
}

/** By name, the SHA-256 of what each class has proven. */
const provenIn = (...args: Parameters<typeof recorded>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries([...recorded(...args).classes].map(([name, { proven }]) => [name, proven?.sha256]));

describe('what the classes of a pool have proven', () => {
  it('is what each was given, once the rollout is over', () => {
    const found = recorded([proved(LARGE), proved(HUGE)]);
    assert.equal(found.settled?.sha256, computedPool().sha256);
    assert.deepEqual(provenIn([proved(LARGE), proved(HUGE)]), {
      [nameOf(HUGE)]: given(HUGE).sha256,
      [nameOf(LARGE)]: given(LARGE).sha256,
    });
    assert.deepEqual(
      [...found.classes.values()].map(({ state, nodes, proved: has, commit: of }) => [state, nodes, has, of]),
      [
        ['proven', 1, 1, COMMIT_B],
        ['proven', 1, 1, COMMIT_B],
      ],
    );
  });

  it('is nothing while a node of the rollout tries it', () => {
    const found = recorded([proved(LARGE), tries(HUGE)]);
    assert.equal(found.settled, null);
    assert.deepEqual(
      [...found.classes.values()].map(({ name, state, proven, missing }) => [name, state, proven, missing]),
      [
        [nameOf(HUGE), 'canaries', null, [HUGE.name]],
        [nameOf(LARGE), 'rolling', null, []],
      ],
    );
  });

  it('is what it was, to the byte, where no state changed', () => {
    const before = recorded([proved(LARGE), proved(HUGE)]);
    const status = { proof: before.proof, rollout: before.rollout } as KubeletPoolStatus;
    const again = recorded([proved(LARGE), proved(HUGE), { view: { ...HUGE, name: 'more' }, is: undefined }], status);
    assert.equal(again.proof, before.proof);
  });

  it('is what a class had that a rollout ended without', () => {
    const had = { ...classOf(HUGE), sha256: 'f'.repeat(64) };
    const away = (member: Member): Member =>
      member.node.name === HUGE.name
        ? { ...member, node: { ...member.node, ready: false, unableSince: NOW - 3_600_000 } }
        : member;
    const large = [proved(LARGE), proved({ ...LARGE, name: 'large-2' })];
    const found = provenIn([...large, { view: HUGE, is: idleNode(HUGE) }], provenBy(had), away);
    assert.deepEqual(found, { [nameOf(HUGE)]: had.sha256, [nameOf(LARGE)]: given(LARGE).sha256 });
  });

  it('keeps classes without nodes until the pool has proven something newer', () => {
    const gone = { ...classOf(HUGE), name: 'a machine that is gone' };
    assert.deepEqual(Object.keys(provenIn([proved(LARGE), tries(HUGE)], provenBy(gone))), [
      nameOf(HUGE),
      nameOf(LARGE),
      gone.name,
    ]);
    assert.deepEqual(Object.keys(provenIn([proved(LARGE)], provenBy(gone))), [nameOf(LARGE)]);
    const over = recorded([proved(LARGE)]);
    const { proof } = provenBy(classOf(LARGE), gone);
    const later = { proof, settled: over.settled, rollout: over.rollout } as KubeletPoolStatus;
    assert.deepEqual(Object.keys(provenIn([proved(LARGE)], later)), [nameOf(LARGE), gone.name]);
  });

  it('is nothing of a class that has no config', () => {
    const rows = [proved(LARGE), { view: SMALL, is: idleNode(SMALL) }];
    const without = (member: Member): Member => (member.node === SMALL ? { ...member, unrendered: 'no' } : member);
    const found = recorded(rows, undefined, without).classes.get(nameOf(SMALL));
    assert.deepEqual([found?.current, found?.proven, found?.state], [null, null, 'unproven']);
  });

  it('is refuted where it failed and the pool is halted', () => {
    const group = groupOf([{ view: LARGE, is: failedNode(LARGE, given(LARGE)) }, proved(HUGE)]);
    const halt = haltOf(group, undefined, null, AT);
    const cohort = cohortOf(group.members, undefined, undefined);
    const { proof } = rememberRollout(group, undefined, { halt, released: null, waves: null, cohort }, NOW);
    assert.deepEqual(
      proof?.classes.map(({ name, state }) => [name, state]),
      [
        [nameOf(HUGE), 'rolling'],
        [nameOf(LARGE), 'refuted'],
      ],
    );
  });
});

describe('what a node was sorted by', () => {
  const sizes = 'memory=63488Mi,ephemeralStorage=102400Mi';

  it('is written to its KubeletNode where that has it not yet', () => {
    const keeping = (had: string | undefined) => {
      const present = idleNode(LARGE);
      const annotations = had === undefined ? {} : { annotations: { [MACHINE_ANNOTATION]: had } };
      const kubeletNodes = [{ ...present, metadata: { ...present.metadata, ...annotations } }];
      const fleet = fleetOf({ nodes: [LARGE, HUGE], kubeletNodes });
      const desired = desiredState(commit(COMMIT_A, computedPool()), fleet, () => []);
      const { steps } = plan(desired, fleet, { namespace: 'n', keepUnusedMs: 1 }, NOW);
      return steps.flatMap((step) => (step.step === 'remember' ? [[step.node, step.annotations]] : []));
    };
    const written = [['large', { [MACHINE_ANNOTATION]: sizes }]];
    assert.deepEqual(keeping(undefined), written);
    assert.deepEqual(keeping('memory=1Mi'), written);
    assert.deepEqual(keeping(sizes), []);
  });
});

describe('what halts a pool with computed values', () => {
  const message = (...views: readonly NodeView[]): string => {
    const group = groupOf(views.map((view) => ({ view, is: failedNode(view, given(view)) })));
    return haltOf(group, undefined, null, AT)?.message ?? '';
  };

  it('names up to three classes, and how many more failed', () => {
    const views = [32, 64, 128, 256, 512].map((size, index) => sizedNode(`n${index}`, 4, size));
    const named = (view: NodeView | undefined) =>
      view === undefined ? '' : `${given(view).configName} of machines with ${nameOf(view)}`;
    const [one, two, three] = views.map(named);
    assert.ok(message(...views.slice(0, 2)).startsWith(`${one}, ${two} failed on n0, n1 `));
    assert.ok(message(...views.slice(0, 3)).startsWith(`${one}, ${two}, ${three} failed on `));
    assert.ok(message(...views.slice(0, 4)).startsWith(`${one}, ${two}, ${three} and 1 more failed on `));
    assert.ok(message(...views).startsWith(`${one}, ${two}, ${three} and 2 more failed on `));
  });
});
