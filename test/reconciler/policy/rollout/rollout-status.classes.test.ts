import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { cohortOf } from '#reconciler/policy/rollout/cohort.ts';
import { haltOf } from '#reconciler/policy/rollout/halt.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import type { Member } from '#reconciler/policy/rollout/membership.ts';
import { waveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import { rememberRollout } from '#reconciler/policy/rollout/rollout-status.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
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
  settledOn,
  SMALL,
} from '../../../support/rollout/separate-classes.ts';
import { WAVES } from './support/hold-question.ts';
import { sizedNode } from '../../../support/rollout/sized-pool.ts';

const proved = (view: Row['view']): Row => ({ view, is: settledNode(view, given(view)) });
const tries = (view: Row['view']): Row => ({ view, is: assignedNode(view, given(view), { phase: 'Trial' }) });

/** Names of the classes that the pool settled on. */
function settled(rows: readonly Row[], before?: SettledConfig, change = (member: Member): Member => member) {
  const { pool, members: standing } = groupOf(rows);
  const members = standing.map(change);
  const able = members.filter(({ unrendered }) => unrendered === undefined);
  const cohort = cohortOf(able, undefined, undefined);
  const waves = waveProgress(poolSpec().rollout, able, undefined, 0, NOW);
  const memory = rememberRollout(
    { pool, members },
    before && { settled: before },
    { halt: null, released: null, waves: { ...WAVES, current: waves.current }, cohort },
    NOW,
  );
  return memory.settled;
}

const namesIn = (found: SettledConfig | null): readonly string[] | undefined => found?.classes?.map(({ name }) => name);

describe('what a pool with computed values settled on', () => {
  it('has each class that has arrived, by its name, with its config', () => {
    const found = settled([proved(LARGE), proved(HUGE)]);
    const classes = [classOf(HUGE), classOf(LARGE)].map(({ name, configName, sha256 }) => ({
      name,
      configName,
      sha256,
    }));
    assert.deepEqual(found, {
      configName: computedPool().configName,
      sha256: computedPool().sha256,
      apply: 'overlay',
      at: AT,
      classes,
    });
  });

  it('is nothing while a class tries its config for the first time', () => {
    assert.equal(settled([proved(LARGE), tries(HUGE)]), null);
  });

  it('is what it was before, with the classes of then, until the present one has arrived', () => {
    const before = { ...settledOn({ ...classOf(HUGE), name: 'gone' }), sha256: 'e'.repeat(64) };
    assert.deepEqual(settled([proved(LARGE), tries(HUGE)], before), before);
  });

  it('keeps what a class had that a rollout ended without, as long as it is laid over in the same way', () => {
    const had = { ...classOf(HUGE), configName: 'x-before', sha256: 'f'.repeat(64) };
    const before = { ...settledOn(had), sha256: 'e'.repeat(64) };
    const away = (member: Member): Member =>
      member.node.name === HUGE.name
        ? { ...member, node: { ...member.node, ready: false, unableSince: NOW - 3_600_000 } }
        : member;
    const large = [proved(LARGE), proved({ ...LARGE, name: 'large-2' })];
    const shaOfHuge = (is: Row['is'], had: SettledConfig) => {
      const found = settled([...large, { view: HUGE, is }], had, away);
      assert.equal(found?.sha256, computedPool().sha256);
      return found.classes?.find(({ name }) => name === nameOf(HUGE))?.sha256;
    };
    assert.equal(shaOfHuge(idleNode(HUGE), before), had.sha256);
    assert.equal(shaOfHuge(idleNode(HUGE), { ...before, apply: 'replace' }), undefined);
    assert.equal(shaOfHuge(settledNode(HUGE, given(HUGE)), before), given(HUGE).sha256);
  });

  it('waits for no node that it has no config for', () => {
    const rows = [proved(LARGE), { view: SMALL, is: idleNode(SMALL) }];
    const without = (member: Member): Member => (member.node === SMALL ? { ...member, unrendered: 'no' } : member);
    assert.deepEqual(namesIn(settled(rows, undefined, without)), [nameOf(LARGE)]);
    assert.equal(settled(rows), null);
  });

  it('gains a class when all of its nodes have arrived, and keeps those that have no nodes any more', () => {
    const gone = { ...classOf(HUGE), name: 'a machine that is gone' };
    assert.deepEqual(namesIn(settled([proved(LARGE), tries(HUGE)], settledOn(gone))), [gone.name, nameOf(LARGE)]);
    assert.deepEqual(namesIn(settled([proved(LARGE), proved(HUGE)], settledOn(gone))), [
      gone.name,
      nameOf(HUGE),
      nameOf(LARGE),
    ]);
    const { classes: _, ...plain } = settledOn();
    assert.deepEqual(namesIn(settled([proved(LARGE), tries(HUGE)], plain)), [nameOf(LARGE)]);
  });

  it('has no class that has no config, nor nodes that nobody sorted', () => {
    const strays = [proved(LARGE), { view: SMALL, is: idleNode(SMALL) }, { ...proved(HUGE), leaves: true }] as const;
    const arrived = (member: Member): Member => ({ ...member, lifecycle: LIFECYCLE.settled });
    assert.deepEqual(namesIn(settled(strays, settledOn(), arrived)), [nameOf(LARGE)]);
  });

  it('has at most a thousand classes: those that have nodes before those that had some', () => {
    const gone = (count: number) =>
      settledOn(
        ...Array.from({ length: count }, (_, index) => ({ ...classOf(HUGE), name: `gone-${String(9000 - index)}` })),
      );
    assert.equal(namesIn(settled([proved(LARGE)], gone(999)))?.length, 1000);
    const names = namesIn(settled([proved(LARGE)], gone(1000))) ?? [];
    assert.equal(names.length, 1000);
    assert.equal(names.at(-1), nameOf(LARGE));
    assert.deepEqual(names, names.toSorted());
    assert.ok(!names.includes('gone-9000'));
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
