import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { memberOf, probationIn, soakOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { allowedOnTrial, type OnTrial, onTrialIn, type TrialCounts } from '#reconciler/policy/rollout/on-trial.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { ReducedBound, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  fleetOf,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  settledOn,
  validPool,
} from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const NEXT_REF = { name: NEXT.configName, sha256: NEXT.sha256, apply: 'overlay' } as const;
const onTrial =
  (healthySeconds: number, status: Partial<KubeletNodeStatus> = {}) =>
  (node: NodeView): KubeletNode => {
    const trial = { config: NEXT.configName, since: '', healthySeconds, durationSeconds: 150, restarts: 0 };
    return assignedNode(node, NEXT, { phase: 'Trial', active: NEXT_REF, trial, ...status });
  };
const promoted = (node: NodeView): KubeletNode => settledNode(node, NEXT);
const soaking = (node: NodeView): KubeletNode => settledNode(node, NEXT, { promotedAt: toTimestamp(NOW - 60_000) });
const failed = (node: NodeView): KubeletNode => failedNode(node, NEXT);
const silent = (of: KubeletNode): KubeletNode => ({
  ...of,
  status: { ...of.status, heartbeat: '2026-01-01T00:00:00Z' },
});
const retrying = (node: NodeView): KubeletNode => {
  const gone = failed(node);
  return { ...gone, spec: { ...gone.spec, forgive: toTimestamp(NOW) } };
};
/** Its agent has yet to hear that the present one is not the one before any more. */
const again = (node: NodeView): KubeletNode => {
  const gone = failed(node);
  const { assigned } = settledNode(node, OLD).status ?? {};
  return { ...gone, status: { ...gone.status, observedGeneration: 0, ...(assigned && { assigned }) } };
};
const forgotten = (node: NodeView): KubeletNode => {
  const tries = retrying(node);
  return { ...tries, status: { ...tries.status, rejected: [] } };
};
/** Ran it already when it was told, so that it never promoted it. */
const adopted = (node: NodeView): KubeletNode => {
  const { promotedAt: _, ...status } = settledNode(node, NEXT).status ?? {};
  return { ...settledNode(node, NEXT), status };
};
/** Took a later payload back, runs this one still, and is told so in this pass. */
const wentBack = (node: NodeView): KubeletNode => ({ ...soaking(node), spec: assignedNode(node, OLD).spec ?? {} });
const inOther = (node: NodeView): KubeletNode => {
  const told = onTrial(0)(node);
  return { ...told, spec: { ...told.spec, pool: 'others' } };
};

interface Kind {
  readonly count: number;
  readonly is: (node: NodeView) => KubeletNode;
  readonly view?: Partial<NodeView>;
  /** They are to run their local config again. */
  readonly leaves?: true;
}

const nodes = (count: number, is: Kind['is'], what: Pick<Kind, 'view' | 'leaves'> = {}): Kind => ({
  count,
  is,
  ...what,
});
const before = (node: NodeView): KubeletNode => settledNode(node, OLD);
const CANARY = { labels: { canary: 'yes' } };
const BY_SELECTOR = { canary: { selector: { matchLabels: CANARY.labels } } };

/** Of a hundred nodes in all, those that are named; the others run what was there before. */
function seen(kinds: readonly Kind[], rollout: Partial<RolloutSpec>, isSettled = false): OnTrial | undefined {
  const { probation: _, ...usual } = poolSpec().rollout;
  const pool = desiredPool(validPool('workers', 120, { rollout: { ...usual, ...rollout } }));
  const rest = 100 - kinds.reduce((sum, { count }) => sum + count, 0);
  const members = [...kinds, nodes(rest, before)].flatMap(({ count, is, view = {}, leaves }: Kind, kind) =>
    Array.from({ length: count }, (__, index) => {
      const node = nodeView(`n${kind}-${index}`, 'workers', view);
      return memberOf(
        node,
        is(node),
        leaves === true ? null : targetOf(pool),
        soakOf(pool),
        NOW,
        undefined,
        probationIn(pool),
      );
    }),
  );
  const fleet = fleetOf({
    nodes: members.map(({ node }) => node),
    kubeletNodes: members.flatMap(({ kubeletNode }) => kubeletNode ?? []),
  });
  const proof = poolProof({ pool, members }, { status: isSettled ? settledOn(NEXT) : {}, isOwn: true }, NOW);
  const group = { pool, members, proof };
  return onTrialIn([group], fleet, NOW).get(group);
}

/** What nodes are, and how many are on trial of how many that may be. */
const ROWS: readonly (readonly [string, readonly Kind[], Partial<RolloutSpec>, on: number, of: number])[] = [
  ['begins with one', [], {}, 0, 1],
  ['begins with as many as there are canaries', [], { canary: { nodes: 3 } }, 0, 3],
  ['begins with the canaries that a selector names', [nodes(4, before, { view: CANARY })], BY_SELECTOR, 0, 4],
  [
    'not with those of them that leave the pool',
    [nodes(2, before, { view: CANARY }), nodes(2, before, { view: CANARY, leaves: true })],
    BY_SELECTOR,
    0,
    2,
  ],
  ['is no more while the canary is past its probation only', [nodes(1, onTrial(50))], {}, 1, 1],
  ['is no more while one of two canaries has yet to promote it', [nodes(1, promoted)], { canary: { nodes: 2 } }, 0, 2],
  ['doubles when the canary has promoted it', [nodes(1, promoted)], {}, 0, 2],
  ['counts who is past the probation', [nodes(1, promoted), nodes(1, onTrial(50))], {}, 1, 4],
  ['and who is not yet', [nodes(1, promoted), nodes(1, onTrial(49))], {}, 1, 2],
  [
    'not who has only just become Ready again',
    [nodes(1, promoted), nodes(1, onTrial(100), { view: { readySince: NOW - 49_000 } })],
    {},
    1,
    2,
  ],
  ['nor who is not Ready', [nodes(1, promoted), nodes(1, onTrial(100), { view: { ready: false } })], {}, 1, 2],
  [
    'nor whose agent speaks of what it was told before',
    [nodes(1, promoted), nodes(1, onTrial(100, { observedGeneration: 0 }))],
    {},
    1,
    2,
  ],
  [
    'but who became Ready again a probation ago',
    [nodes(1, promoted), nodes(1, onTrial(100), { view: { readySince: NOW - 50_000 } })],
    {},
    1,
    4,
  ],
  ['is eight with four', [nodes(4, promoted)], {}, 0, 8],
  ['and eight with seven', [nodes(7, promoted)], {}, 0, 8],
  ['is twelve with three of three canaries and three more', [nodes(6, promoted)], { canary: { nodes: 3 } }, 0, 12],
  ['ends at a fifth of the pool', [nodes(40, promoted)], {}, 0, 20],
  ['or at maxUnavailable where that is more', [nodes(40, promoted)], { maxUnavailable: '30%' }, 0, 30],
  ['or where the pool says', [nodes(40, promoted)], { maxOnTrial: 5, maxUnavailable: '30%' }, 0, 5],
  ['is half as many when a node took it back', [nodes(8, promoted), nodes(1, failed)], {}, 0, 8],
  ['and when it fell silent since', [nodes(8, promoted), nodes(1, (node) => silent(failed(node)))], {}, 0, 8],
  ['counts who took it back once it tries again', [nodes(8, promoted), nodes(1, retrying)], {}, 1, 8],
  ['counts who took it back before it was told another one, and this one once more', [nodes(1, again)], {}, 1, 1],
  ['and goes on when its agent has forgotten the failure', [nodes(1, forgotten)], {}, 1, 1],
  ['counts who soaks', [nodes(1, soaking), nodes(1, promoted)], { soak: '5m' }, 1, 4],
  ['does not count who has soaked', [nodes(1, soaking)], { soak: '1m' }, 0, 2],
  ['nor who ran it before it was told, and has nothing to soak', [nodes(1, adopted)], { soak: '5m' }, 0, 2],
  ['counts who was told it by another pool, as where this one was renamed', [nodes(1, inOther)], {}, 1, 1],
  [
    'is maxUnavailable with a full probation',
    [nodes(40, promoted), nodes(1, onTrial(50))],
    { probation: 'full', maxUnavailable: 3 },
    1,
    3,
  ],
  ['with which who took it back counts', [nodes(1, failed)], { probation: 'full', maxUnavailable: 3 }, 1, 3],
  ['counts who soaks with it since before a later payload', [nodes(2, wentBack)], { soak: '5m' }, 2, 4],
  ['and not when that is over', [nodes(2, wentBack)], { soak: '30s' }, 0, 4],
  ['and who soaks does not', [nodes(1, soaking)], { probation: 'full', soak: '5m' }, 0, 1],
];

/** `most` canaries, and what nodes have shown; what failures made of the bound before; and what it is now. */
const FAILURES: readonly (readonly [
  string,
  readonly [most: number, canaries: number],
  TrialCounts,
  ReducedBound | undefined,
  allowed: number,
  ReducedBound | undefined,
])[] = [
  ['nothing without a failure', [20, 1], counts(8, 8, 9, 0), undefined, 16, undefined],
  ['nothing before the canaries have proven it', [20, 3], counts(2, 2, 3, 1), undefined, 3, undefined],
  ['half of it with one', [20, 1], counts(8, 8, 9, 1), undefined, 8, reduced(1, 8, 9)],
  ['half of the widest', [20, 1], counts(40, 40, 44, 1), undefined, 10, reduced(1, 10, 44)],
  ['a quarter of it with two at once', [20, 1], counts(8, 8, 9, 2), undefined, 4, reduced(2, 4, 9)],
  ['never less than the canaries', [20, 3], counts(3, 3, 3, 2), undefined, 3, reduced(2, 3, 3)],
  ['or than the pool allows', [2, 3], counts(3, 3, 3, 1), undefined, 2, reduced(1, 2, 3)],
  ['the same in the next pass', [20, 1], counts(8, 8, 9, 1), reduced(1, 8, 9), 8, reduced(1, 8, 9)],
  ['the same when those pass that had begun', [20, 1], counts(9, 9, 12, 1), reduced(1, 8, 9), 8, reduced(1, 8, 9)],
  ['the same before as many have passed', [20, 1], counts(16, 16, 20, 1), reduced(1, 8, 9), 8, reduced(1, 8, 9)],
  [
    'twice as much when as many passed afterwards',
    [20, 1],
    counts(17, 17, 20, 1),
    reduced(1, 8, 9),
    16,
    reduced(1, 8, 9),
  ],
  ['half again with another one', [20, 1], counts(17, 17, 20, 2), reduced(1, 8, 9), 8, reduced(2, 8, 20)],
  ['the same when one of two is gone', [20, 1], counts(9, 9, 9, 1), reduced(2, 4, 9), 4, reduced(1, 4, 9)],
  ['half again with one after that', [20, 1], counts(9, 9, 9, 2), reduced(1, 4, 9), 2, reduced(2, 2, 9)],
  ['the same when all are gone', [20, 1], counts(9, 9, 9, 0), reduced(1, 4, 9), 4, reduced(0, 4, 9)],
  ['twice as much when as many passed since', [20, 1], counts(13, 13, 13, 0), reduced(0, 4, 9), 8, reduced(0, 4, 9)],
  ['half again with the next one', [20, 1], counts(9, 9, 9, 1), reduced(0, 4, 9), 2, reduced(1, 2, 9)],
  [
    'no more than the evidence, whatever is recorded',
    [20, 1],
    counts(2, 2, 9, 1),
    reduced(1, 19, 0),
    4,
    reduced(1, 19, 0),
  ],
  [
    'no less than the canaries, whatever is recorded',
    [20, 3],
    counts(9, 9, 9, 1),
    reduced(1, 0, 9),
    3,
    reduced(1, 3, 9),
  ],
  ['what nodes can undo that begin from now on', [20, 1], counts(8, 8, 9, 1), reduced(1, 2, 99), 2, reduced(1, 2, 9)],
];

function counts(promoted: number, passed: number, begun: number, failed: number): TrialCounts {
  return { promoted, passed, begun, failed };
}

function reduced(failed: number, maxOnTrial: number, begun: number): ReducedBound {
  return { failed, maxOnTrial, begun };
}

describe('of the bound of nodes on trial, failures leave', () => {
  for (const [name, [most, canaries], shown, last, allowed, expected] of FAILURES) {
    it(name, () => {
      const found = allowedOnTrial(most, canaries, shown, last);
      assert.deepEqual([found.allowed, found.reduced], [allowed, expected]);
      assert.equal(found.isProven, shown.promoted >= canaries);
    });
  }
});

describe('how many nodes may be on trial', () => {
  for (const [name, kinds, rollout, on, of] of ROWS) {
    it(name, () => {
      const found = seen(kinds, rollout);
      assert.deepEqual([found?.names.length, found?.allowed], [on, of]);
    });
  }

  it('has no bound once the pool settled on the payload', () => {
    assert.equal(seen([nodes(1, promoted)], {}, true)?.allowed, Infinity);
    assert.equal(seen([nodes(1, promoted)], { probation: 'full' }, true)?.allowed, Infinity);
    assert.deepEqual(seen([nodes(1, failed)], {}, true)?.failed, [], 'and who took it back bounds nobody');
    assert.deepEqual(seen([nodes(1, failed)], {})?.failed, ['n0-0']);
  });

  it('makes trials shorter as soon as the canaries have proven the payload, and when one fails later', () => {
    const isProven = (...kinds: readonly Kind[]): boolean | undefined =>
      seen(kinds, { canary: { nodes: 2 } })?.isProven;
    assert.equal(isProven(nodes(1, promoted), nodes(5, onTrial(50))), false);
    assert.equal(isProven(nodes(2, promoted)), true);
    assert.equal(isProven(nodes(9, promoted), nodes(1, failed)), true);
    assert.equal(isProven(nodes(1, promoted), nodes(1, failed)), false);
    assert.equal(seen([nodes(9, promoted)], { probation: 'full' })?.isProven, false, 'with that, none is shorter');
  });
});
