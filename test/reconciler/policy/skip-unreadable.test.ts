import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fleet, UnreadableObject } from '#reconciler/policy/fleet.ts';
import { skipUnreadable, touchesUnreadable } from '#reconciler/policy/skip-unreadable.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fleetOf, nodeView, poolInCluster, settledNode, validPool } from '../../support/fleet.ts';

const POOLS = ['gpu', 'workers'].map((name) => validPool(name, 110));
const NODES = ['gpu-0', 'gpu-1', 'workers-0', 'workers-1', 'workers-2'].map((name) =>
  nodeView(name, name.split('-')[0] ?? ''),
);
const POOL_OF = new Map(POOLS.map((pool) => [pool.name, pool]));
const [GPU = validPool('gpu', 1)] = POOLS;
const FLEET = fleetOf({
  nodes: NODES,
  kubeletNodes: NODES.map((node) => settledNode(node, POOL_OF.get(node.name.split('-')[0] ?? '') ?? GPU)),
  pools: POOLS.map((pool) => poolInCluster(pool)),
});

/** Everything by its name, as it is decided about. */
const namesIn = ({ nodes, kubeletNodes, pools }: Fleet): readonly string[] => [
  ...nodes.keys(),
  ...[...kubeletNodes.keys()].map((name) => `kubelet ${name}`),
  ...pools.keys(),
];

/** A decision that throws over each of these, the first of them first, and says what it saw otherwise. */
const throwsOver =
  (...bad: readonly string[]) =>
  (fleet: Fleet): readonly string[] => {
    const names = namesIn(fleet);
    const found = bad.find((name) => names.includes(name));
    if (found !== undefined) throw new RangeError(found);
    return names;
  };

const without = (...gone: readonly string[]): readonly string[] =>
  namesIn(FLEET).filter((name) => !gone.includes(name) && !gone.includes(name.replace('kubelet ', '')));

const isSaid = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const said = (all: readonly UnreadableObject[] = []): readonly string[] =>
  all.map(({ of, name, error }) => `${of} ${name}: ${isSaid(error)}`);

/** What a decision throws over, what is left out for it, and who is left. */
const ROWS: readonly (readonly [readonly string[], readonly string[], readonly string[]])[] = [
  [[], [], without()],
  [['gpu-0'], ['node gpu-0: gpu-0'], without('gpu-0')],
  [['workers-1'], ['node workers-1: workers-1'], without('workers-1')],
  [['workers-2'], ['node workers-2: workers-2'], without('workers-2')],
  [['kubelet workers-0'], ['node workers-0: kubelet workers-0'], without('workers-0')],
  [['gpu'], ['pool gpu: gpu'], without('gpu', 'gpu-0', 'gpu-1')],
  [['workers-2', 'gpu-1'], ['node workers-2: workers-2', 'node gpu-1: gpu-1'], without('workers-2', 'gpu-1')],
];

describe('what nothing can be decided about', () => {
  for (const [bad, leftOut, left] of ROWS) {
    it(`is left out alone: ${bad.join(' and ') || 'nothing'}`, () => {
      const { result, fleet } = skipUnreadable(FLEET, throwsOver(...bad));
      assert.deepEqual(said(fleet.unreadable).toSorted(), leftOut.toSorted());
      assert.deepEqual(namesIn(fleet), result);
      assert.deepEqual(result.toSorted(), left.toSorted());
    });
  }

  it('is looked for among nodes first, so that no pool is held for one of its nodes', () => {
    const over = (fleet: Fleet): true => {
      if (fleet.nodes.has('gpu-0') && fleet.pools.has('gpu')) throw new RangeError('both');
      return true;
    };
    assert.deepEqual(said(skipUnreadable(FLEET, over).fleet.unreadable), ['node gpu-0: both']);
  });

  it('is not taken for another of its name: a pool for a node, or a node for a pool', () => {
    const namesake = nodeView('gpu', 'workers');
    const fleet = { ...FLEET, nodes: new Map([...FLEET.nodes, ['gpu', namesake]]) };
    const over = (kind: 'nodes' | 'pools') => (now: Fleet) => {
      if (now[kind].has('gpu')) throw new RangeError(kind);
    };
    const [ofNode, ofPool] = [skipUnreadable(fleet, over('nodes')), skipUnreadable(fleet, over('pools'))];
    assert.deepEqual(
      [...said(ofNode.fleet.unreadable), ...said(ofPool.fleet.unreadable)],
      ['node gpu: nodes', 'pool gpu: pools'],
    );
    assert.deepEqual(namesIn(ofNode.fleet), namesIn(FLEET));
    assert.ok(ofPool.fleet.nodes.has('gpu') && !ofPool.fleet.nodes.has('gpu-0'));
  });

  it('may be a node without an object of ours, or an object of ours without a node', () => {
    const [node = nodeView('x', 'gpu')] = NODES;
    const alone = { ...FLEET, kubeletNodes: new Map() };
    assert.deepEqual(said(skipUnreadable(alone, throwsOver('gpu-0')).fleet.unreadable), ['node gpu-0: gpu-0']);
    const lost = { ...FLEET, nodes: new Map() };
    assert.deepEqual(said(skipUnreadable(lost, throwsOver(`kubelet ${node.name}`)).fleet.unreadable), [
      'node gpu-0: kubelet gpu-0',
    ]);
  });

  it('may be a node whose pool cannot be read either, while a pool is left out', () => {
    const poisoned = {
      metadata: { name: 'workers-0' },
      get spec(): never {
        throw new RangeError('poison');
      },
    } as unknown as KubeletNode;
    const fleet = { ...FLEET, kubeletNodes: new Map([...FLEET.kubeletNodes, ['workers-0', poisoned]]) };
    const left = skipUnreadable(fleet, throwsOver('gpu')).fleet;
    assert.deepEqual(said(left.unreadable), ['pool gpu: gpu']);
  });

  it('is told apart from a later object of its name by its uid, as far as that can be read', () => {
    const unreadable = {
      get metadata(): never {
        throw new RangeError('poison');
      },
    } as never;
    const poisoned = { ...FLEET, pools: new Map([...FLEET.pools, ['bad', unreadable]]) };
    const lost = { ...FLEET, nodes: new Map() };
    const uidOf = (fleet: Fleet, bad: string) => skipUnreadable(fleet, throwsOver(bad)).fleet.unreadable?.[0]?.uid;
    assert.deepEqual(
      [uidOf(FLEET, 'gpu-0'), uidOf(FLEET, 'gpu'), uidOf(lost, 'kubelet gpu-0'), uidOf(poisoned, 'bad')],
      ['uid-gpu-0', 'p-gpu', '', ''],
    );
  });

  it('is no accident where leaving out does not help, or where it is everywhere', () => {
    const never = (): never => {
      throw new RangeError('always');
    };
    assert.throws(() => skipUnreadable(FLEET, never), /always/);
    const many = (count: number): Fleet =>
      fleetOf({ nodes: Array.from({ length: count }, (_, n) => nodeView(`n${n}`, 'gpu')) });
    const anybody = (fleet: Fleet): number => {
      if (fleet.nodes.size > 0) throw new RangeError(`${fleet.nodes.size} are left`);
      return 0;
    };
    assert.equal(skipUnreadable(many(20), anybody).fleet.unreadable?.length, 20);
    assert.throws(() => skipUnreadable(many(21), anybody), /1 are left/);
  });
});

const STEP = { uid: 'u', because: 'x' } as const;
const kubeletNode = (name: string): KubeletNode => settledNode(nodeView(name, 'gpu'), GPU);
const pool = poolInCluster(GPU);
const spec = { ...pool.spec } as never;
const BAD_NODE: UnreadableObject = { of: 'node', name: 'bad', uid: '', error: null };
const BAD_POOL: UnreadableObject = { of: 'pool', name: 'gpu', uid: '', error: null };

/** A step, and whether it is about the node `bad`, and about the pool `gpu`. */
const STEPS: readonly (readonly [Step, boolean, boolean])[] = [
  [{ step: 'create-node', node: 'bad', uid: 'u', at: 0 }, true, false],
  [{ step: 'create-node', node: 'good', uid: 'u', at: 0 }, false, false],
  [{ step: 'untaint', node: 'bad', ...STEP }, true, false],
  // Nobody knows whether the pool that was left out wants a node that is to leave its own.
  [{ step: 'assign', node: kubeletNode('bad'), spec: { pool: 'other' }, because: '' }, true, true],
  [{ step: 'assign', node: kubeletNode('good'), spec: { pool: 'gpu' }, because: '' }, false, true],
  [{ step: 'unassign', node: kubeletNode('good'), spec: {}, because: '' }, false, true],
  [{ step: 'create-pool', pool: 'gpu', spec }, false, true],
  [{ step: 'create-pool', pool: 'bad', spec }, false, false],
  [{ step: 'write-pool', pool, spec }, false, true],
  [{ step: 'delete-pool', pool: 'other', uid: 'u' }, false, false],
  [{ step: 'delete-config-source', name: 'x', uid: 'u', because: 'unused' }, true, true],
];

describe('a step', () => {
  for (const [step, ofNode, ofPool] of STEPS) {
    it(`${step.step} is not taken where it is about what was left out: ${ofNode} for a node, ${ofPool} for a pool`, () => {
      assert.deepEqual(
        [
          touchesUnreadable(step, []),
          touchesUnreadable(step, [BAD_NODE]),
          touchesUnreadable(step, [BAD_POOL]),
          touchesUnreadable(step, [BAD_NODE, BAD_POOL]),
        ],
        [false, ofNode, ofPool, ofNode || ofPool],
      );
    });
  }
});
