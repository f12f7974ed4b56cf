import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { type Group, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { type KnownRecord, poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { readProof, writeProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  idleNode,
  nodeView,
  NOW,
  recordOf,
  settledNode,
  settledOn,
  validPool,
} from '../../../support/fleet.ts';
import {
  classOf,
  computedPool,
  given,
  groupOf as groupOfClasses,
  HUGE,
  LARGE,
  nameOf,
  provenBy,
  SMALL,
} from '../../../support/rollout/separate-classes.ts';

const HOUR = 3_600_000;
const AT = toTimestamp(NOW - HOUR);
const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const target = ({ sha256 }: { readonly sha256: string }) => ({ sha256, apply: 'overlay' }) as const;

type Make = (view: NodeView) => KubeletNode;
const has =
  (pool: typeof OLD, more = {}): Make =>
  (view) =>
    settledNode(view, pool, more);
const tries: Make = (view) => assignedNode(view, NEXT, { phase: 'Trial' });
/** Promoted it so long ago. */
const promoted = (ms: number): Make => has(NEXT, { promotedAt: toTimestamp(NOW - ms) });

function groupOf(nodes: readonly Make[], rollout: Partial<RolloutSpec> = {}): Group {
  const { spec } = NEXT;
  const pool = desiredPool({ ...NEXT, spec: { ...spec, rollout: { ...spec.rollout, soak: '30m', ...rollout } } });
  const members = nodes.map((make, index) => {
    const view = nodeView(`n${index}`, 'workers', { createdAt: NOW - 48 * HOUR });
    return memberOf(view, make(view), targetOf(pool), 0, NOW);
  });
  return { pool, members };
}

/** That the pool proved this. */
const proved = (pool: typeof OLD, commit?: string): KubeletPoolStatus => ({
  settled: { configName: pool.configName, sha256: pool.sha256, apply: 'overlay', at: AT },
  proof: writeProof([
    {
      ...recordOf('', pool.sha256),
      current: target(NEXT),
      commit,
    },
  ]),
});

/** The rollout of the present payload, over. */
const OVER = {
  configName: NEXT.configName,
  sha256: NEXT.sha256,
  startedAt: AT,
  finishedAt: AT,
  waves: [{ name: 'rest', nodes: 3, state: 'done', startedAt: AT, doneAt: AT }],
} as const;

const asked = (group: Group, known: Omit<KnownRecord, 'isOwn'> & Partial<KnownRecord>) => {
  const [member] = group.members;
  assert.ok(member !== undefined);
  const proof = poolProof(group, { isOwn: false, ...known }, NOW);
  const back = proof.revertTo(member);
  return {
    gives: proof.provenFor(member)?.sha256,
    back: back === 'unread' ? back : back?.sha256,
    isProven: proof.isProven('n0', target(NEXT)),
    rollout: proof.rollout,
  };
};

describe('what a class has proven', () => {
  it('is what the leader wrote itself, whoever has it', () => {
    const found = asked(groupOf([tries]), { status: proved(OLD), isOwn: true });
    assert.deepEqual([found.gives, found.back, found.isProven], [OLD.sha256, OLD.sha256, false]);
    assert.equal(asked(groupOf([tries]), { status: proved(NEXT), isOwn: true }).isProven, true);
  });

  const rows: readonly (readonly [string, readonly Make[], typeof OLD, boolean])[] = [
    ['a node shows it', [tries, has(OLD)], OLD, true],
    ['no node has it', [tries, (view) => idleNode(view)], OLD, false],
    ['a node was told it', [(view) => assignedNode(view, OLD, { phase: 'Trial' })], OLD, false],
    ['a node has it, its agent silent,', [has(OLD, { heartbeat: '2026-01-01T00:00:00Z' })], OLD, true],
    ['a node has it that has yet to soak', [tries, promoted(29 * 60_000)], NEXT, false],
    ['a node has it, and the rollout of that goes on', [tries, promoted(30 * 60_000)], NEXT, false],
    ['nodes have it, and the rollout of that is over', [promoted(HOUR), promoted(HOUR), tries], NEXT, true],
    ['it is over, and hardly a node has it', [tries, tries, promoted(HOUR)], NEXT, false],
    ['a node has it in another way', [has({ ...OLD, spec: { ...OLD.spec, apply: 'replace' } })], OLD, false],
    ['nodes have something else', [has(NEXT)], OLD, false],
  ];
  for (const [what, nodes, pool, isBelieved] of rows) {
    it(`is ${isBelieved ? 'what another leader wrote' : 'nothing'} where ${what}`, () => {
      const isOver = what.includes('over');
      const { gives, back } = asked(groupOf(nodes), {
        status: { ...proved(pool), ...(isOver ? { rollout: OVER } : {}) },
      });
      const expected = isBelieved ? pool.sha256 : undefined;
      assert.deepEqual([gives, back], [expected, expected]);
    });
  }

  it('is all that the pool settled on, whoever says more', () => {
    const [before, { settled }] = [proved(OLD), settledOn(NEXT)];
    const on = (nodes: readonly Make[], status: KubeletPoolStatus, isOwn = false): string | undefined =>
      poolProof(groupOf(nodes), { status, isOwn }, NOW).settled?.sha256;
    assert.equal(on([tries, has(OLD)], before), OLD.sha256);
    assert.equal(on([tries, tries], before), undefined);
    assert.equal(on([tries, tries], before, true), OLD.sha256, 'it wrote that itself');
    assert.equal(on([tries, has(OLD)], { ...before, settled }), undefined);
    assert.equal(on([tries, promoted(HOUR)], { settled }), undefined, 'without a record of proof');
    assert.equal(on([promoted(HOUR), promoted(HOUR), tries], { ...proved(NEXT), rollout: OVER }), NEXT.sha256);
    assert.equal(on([tries, tries, promoted(HOUR)], { ...proved(NEXT), rollout: OVER }), undefined);
  });

  it('is the last word on rollouts before, in a pool that is halted', () => {
    const rollout = { ...OVER, configName: OLD.configName, sha256: OLD.sha256 };
    const last = (nodes: readonly Make[], isOwn: boolean): string | undefined =>
      poolProof(groupOf(nodes), { status: { ...proved(OLD), rollout }, isOwn }, NOW).last?.sha256;
    assert.equal(last([tries], true), OLD.sha256);
    assert.equal(last([tries, has(OLD)], false), OLD.sha256);
    assert.equal(last([tries], false), undefined);
  });

  it('is shown by nodes of that class alone', () => {
    const { configName, sha256 } = computedPool();
    const status = { ...provenBy(classOf(LARGE), classOf(HUGE)), rollout: { ...OVER, configName, sha256 } };
    const more = { ...LARGE, name: 'large-2' };
    const both = groupOfClasses([
      { view: LARGE, is: settledNode(LARGE, given(LARGE)) },
      { view: HUGE, is: idleNode(HUGE) },
      { view: more, is: settledNode(more, given(LARGE)) },
    ]);
    const { classes } = poolProof(both, { status, isOwn: false }, NOW);
    assert.equal(classes.get(nameOf(LARGE))?.proven?.sha256, given(LARGE).sha256);
    const { proven, former, state } = classes.get(nameOf(HUGE)) ?? {};
    assert.deepEqual([proven, former?.sha256, state], [null, given(HUGE).sha256, 'unproven']);
  });

  it('is known of a node by what it has, where its class had another name', () => {
    const group = groupOfClasses(
      [{ view: SMALL, is: settledNode(SMALL, given(HUGE)) }],
      provenBy(classOf(HUGE, 'gone')),
    );
    const [member] = group.members;
    assert.ok(member !== undefined);
    assert.equal(group.proof?.provenFor(member)?.sha256, given(HUGE).sha256);
    assert.equal(group.proof?.isProven(SMALL.name, target(given(HUGE))), false, 'its class has proven nothing');
  });
});

describe('a revert to a config that no node has', () => {
  const [commit, elsewhere] = ['a'.repeat(40), 'b'.repeat(40)];
  const status = proved(OLD, commit);

  it('is read from git first', () => {
    const found = asked(groupOf([tries]), { status });
    assert.deepEqual([found.gives, found.back], [undefined, 'unread']);
  });

  it('is what its commit renders still, and nothing where that is something else', () => {
    const found = asked(groupOf([tries]), { status, rendered: new Map([[commit, new Set([OLD.sha256])]]) });
    assert.deepEqual([found.gives, found.back], [undefined, OLD.sha256]);
    const other = asked(groupOf([tries]), { status, rendered: new Map([[commit, new Set([NEXT.sha256])]]) });
    assert.equal(other.back, undefined);
  });

  it('is what that very commit renders, whatever another one does', () => {
    const others = new Map([[elsewhere, new Set([OLD.sha256])]]);
    assert.equal(asked(groupOf([tries]), { status, rendered: others }).back, 'unread');
    const both = new Map([...others, [commit, new Set([NEXT.sha256])]]);
    assert.equal(asked(groupOf([tries]), { status, rendered: both }).back, undefined);
  });

  it('is not asked for where the class has something proven', () => {
    const [entry] = readProof(status).values();
    const both = { ...status, proof: writeProof(entry === undefined ? [] : [{ ...entry, former: target(NEXT) }]) };
    const rendered = new Map([[commit, new Set([NEXT.sha256])]]);
    for (const known of [{ status: both }, { status: both, rendered }]) {
      assert.equal(asked(groupOf([tries, has(OLD)]), known).back, OLD.sha256);
    }
  });

  it('is never what failed just now, though its commit renders that', () => {
    const found = asked(groupOf([tries]), {
      status: proved(NEXT, commit),
      rendered: new Map([[commit, new Set([NEXT.sha256])]]),
    });
    assert.deepEqual([found.gives, found.back], [undefined, undefined]);
  });

  it('is nothing where the record names no commit', () => {
    const found = asked(groupOf([tries]), { status: proved(OLD) });
    assert.equal(found.back, undefined);
  });
});

describe('a lost record', () => {
  const rows: readonly (readonly [string, readonly Make[], KubeletPoolStatus | undefined, string | undefined])[] = [
    ['is what all have promoted', [has(OLD), has(OLD)], undefined, OLD.sha256],
    [
      'is what most of those have promoted that were not told the next',
      [tries, has(OLD), promoted(HOUR)],
      {},
      OLD.sha256,
    ],
    ['is nothing where all were told the next', [tries, promoted(HOUR)], undefined, undefined],
    ['is nothing where not more than half have it', [has(OLD), (view) => idleNode(view)], undefined, undefined],
    ['is nothing where they were only told it', [(view) => assignedNode(view, OLD)], undefined, undefined],
    ['is what it was, where it is not lost', [has(OLD)], proved(NEXT), NEXT.sha256],
  ];
  for (const [what, nodes, status, sha256] of rows) {
    it(what, () => {
      const group = groupOf(nodes);
      const proof = poolProof(group, { status, isOwn: true }, NOW);
      assert.equal(proof.classes.get('')?.proven?.sha256, sha256);
    });
  }

  it('is no word that others are given a config by before it is written', () => {
    const { gives, back } = asked(groupOf([has(OLD), has(OLD)]), { status: undefined });
    assert.deepEqual([gives, back], [undefined, OLD.sha256]);
  });
});

describe('a rollout that another leader wrote down', () => {
  const wave = (name: string, nodes: number, isDone = true) => ({
    name,
    nodes,
    state: isDone ? ('done' as const) : ('rolling' as const),
    startedAt: AT,
    ...(isDone ? { doneAt: AT } : {}),
  });
  const rollout = (...waves: ReturnType<typeof wave>[]) => ({
    configName: NEXT.configName,
    sha256: NEXT.sha256,
    startedAt: AT,
    newest: toTimestamp(NOW - 47 * HOUR),
    ...(waves.every(({ state }) => state === 'done') ? { finishedAt: AT } : {}),
    waves,
    analysis: { verdict: 'pass', message: '', at: AT } as never,
  });
  const canary = { canary: { nodes: 1 } };
  const known = (nodes: readonly Make[], ...waves: ReturnType<typeof wave>[]) => {
    const { rollout: found } = asked(groupOf(nodes, canary), { status: { rollout: rollout(...waves) } });
    return [
      found?.waves.map(({ doneAt }) => doneAt !== undefined),
      found?.finishedAt !== undefined,
      found?.analysis !== undefined,
    ];
  };

  it('is done as far as nodes show it, and compared once more where it is not over', () => {
    const all = [promoted(HOUR), promoted(HOUR), tries];
    assert.deepEqual(known(all, wave('canary', 1), wave('rest', 3, false)), [[true, false], false, false]);
    assert.deepEqual(known([tries, tries, tries], wave('canary', 1), wave('rest', 3, false)), [
      [false, false],
      false,
      false,
    ]);
    assert.deepEqual(known([promoted(60_000), tries, tries], wave('canary', 1), wave('rest', 3, false))[0], [
      false,
      false,
    ]);
  });

  it('is over where more than half of its nodes show it', () => {
    assert.deepEqual(known([promoted(HOUR), promoted(HOUR), tries], wave('canary', 1), wave('rest', 3)), [
      [true, true],
      true,
      true,
    ]);
    assert.deepEqual(known([promoted(HOUR), tries, tries], wave('canary', 1), wave('rest', 3)), [
      [true, false],
      false,
      false,
    ]);
  });

  it('is as it was, where this leader wrote it', () => {
    const written = rollout(wave('canary', 1), wave('rest', 3));
    assert.equal(asked(groupOf([tries], canary), { status: { rollout: written }, isOwn: true }).rollout, written);
  });

  it('is none where it is of another payload', () => {
    const other = { ...rollout(wave('rest', 3)), sha256: OLD.sha256 };
    assert.equal(asked(groupOf([tries]), { status: { rollout: other }, isOwn: true }).rollout, undefined);
  });
});
