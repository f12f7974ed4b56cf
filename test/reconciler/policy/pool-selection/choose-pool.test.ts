import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import { type PoolCandidate, choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { selectorMatches } from '#reconciler/policy/pool-selection/selector.ts';

const labels = { zone: 'a', gpu: 'nvidia', 'node-role.kubernetes.io/worker': '' };

const selectors: readonly (readonly [string, LabelSelector, boolean])[] = [
  ['an empty selector matches every node', {}, true],
  ['matchLabels needs the value', { matchLabels: { zone: 'b' } }, false],
  ['matchLabels needs every label', { matchLabels: { zone: 'a', rack: '1' } }, false],
  ['an empty value is a value', { matchLabels: { 'node-role.kubernetes.io/worker': '' } }, true],
  ['In', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }, true],
  ['In misses where the label is missing', { matchExpressions: [{ key: 'x', operator: 'In', values: ['a'] }] }, false],
  ['NotIn', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, false],
  [
    'NotIn holds where the label is missing',
    { matchExpressions: [{ key: 'x', operator: 'NotIn', values: ['a'] }] },
    true,
  ],
  ['NotIn holds for any other value', { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['b'] }] }, true],
  ['Exists', { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }, false],
  ['DoesNotExist holds where it is missing', { matchExpressions: [{ key: 'x', operator: 'DoesNotExist' }] }, true],
  ['Exists misses where the label is missing', { matchExpressions: [{ key: 'x', operator: 'Exists' }] }, false],
  ['a name that every object has is no label', { matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
  [
    'labels and expressions must all hold',
    { matchLabels: { zone: 'a' }, matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] },
    false,
  ],
];

describe('a node selector', () => {
  for (const [rule, selector, matches] of selectors) {
    it(rule, () => assert.equal(selectorMatches(selector, labels), matches));
  }
});

const pool = (name: string, priority: number, nodeSelector: LabelSelector = {}): PoolCandidate => ({
  name,
  priority,
  nodeSelector,
});

describe('the pool of a node', () => {
  it('is the only one that matches', () => {
    const candidates = [
      pool('gpu', 0, { matchLabels: { gpu: 'nvidia' } }),
      pool('other', 9, { matchLabels: { zone: 'z' } }),
    ];
    assert.deepEqual(choosePool({ labels }, candidates), { choice: 'pool', pool: 'gpu' });
  });
  it('is the one with the highest priority', () => {
    assert.deepEqual(choosePool({ labels }, [pool('low', -1), pool('high', 5), pool('mid', 0)]), {
      choice: 'pool',
      pool: 'high',
    });
  });
  it('is undecided where the highest priority is shared, and both rivals are named', () => {
    const conflict = choosePool({ labels }, [pool('z', 5), pool('low', 1), pool('b', 5)]);
    assert.deepEqual(conflict, { choice: 'conflict', pools: ['b', 'z'] });
  });
  it('is none where none matches', () => {
    assert.deepEqual(choosePool({ labels }, [pool('a', 0, { matchLabels: { zone: 'z' } })]), { choice: 'none' });
    assert.deepEqual(choosePool({ labels }, []), { choice: 'none' });
  });
  it('is nobody’s where a person opted the node out', () => {
    assert.deepEqual(choosePool({ labels: { ...labels, 'kubelet-gitops.dev/opt-out': '' } }, [pool('a', 0)]), {
      choice: 'opted-out',
      because: 'opted out by a label',
    });
    assert.deepEqual(choosePool({ labels: { ...labels, 'kubelet-gitops.dev/opt-out': 'false' } }, [pool('a', 0)]), {
      choice: 'pool',
      pool: 'a',
    });
  });
  it('is nobody’s where no agent can run', () => {
    const fargate = { labels: { ...labels, 'eks.amazonaws.com/compute-type': 'fargate' } };
    for (const node of [fargate, { labels, virtual: true } as const]) {
      assert.equal(choosePool(node, [pool('a', 0)]).choice, 'unsupported');
    }
  });
});

describe('choosing among many pools', () => {
  const words = fc.constantFrom('', 'a', 'b', 'toString');
  const some = fc.dictionary(fc.constantFrom('zone', 'gpu', 'rack', 'constructor'), words, {
    maxKeys: 3,
    noNullPrototype: true,
  });
  const selectorOf = fc.record(
    {
      matchLabels: some,
      matchExpressions: fc.array(fc.record({ key: words, operator: fc.constantFrom('Exists', 'DoesNotExist') }), {
        maxLength: 1,
      }),
    },
    { requiredKeys: [] },
  );
  const candidates = fc.uniqueArray(
    fc.record({
      name: fc.string({ minLength: 1, maxLength: 3 }),
      priority: fc.integer({ min: -1, max: 1 }),
      nodeSelector: selectorOf,
    }),
    { selector: ({ name }) => name, maxLength: 12 },
  );

  it('is asking each of them', () => {
    fc.assert(
      fc.property(candidates, some, (all, on) => {
        const matching = all.filter(({ nodeSelector }) => selectorMatches(nodeSelector, on));
        const highest = Math.max(...matching.map(({ priority }) => priority));
        const best = matching.filter(({ priority }) => priority === highest).map(({ name }) => name);
        const [only] = best;
        const expected =
          only === undefined
            ? { choice: 'none' }
            : best.length === 1
              ? { choice: 'pool', pool: only }
              : { choice: 'conflict', pools: best.sort() };
        assert.deepEqual(choosePool({ labels: on }, all), expected);
      }),
    );
  });
});
