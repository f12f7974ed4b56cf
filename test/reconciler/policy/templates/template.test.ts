import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from '#reconciler/policy/templates/expression.ts';
import { type ComputedLeaf, placeholderOfLeaf } from '#reconciler/policy/templates/leaf.ts';
import {
  machineWithMaxPods,
  leafPaths,
  describeTemplate,
  templateOf,
  describeLeaf,
} from '#reconciler/policy/templates/template.ts';

function leafOf(key: string, text: string, more: Partial<ComputedLeaf> = {}): ComputedLeaf {
  const expression = compile(text);
  assert.ok(!('message' in expression), text);
  return { key, expression, bounds: {}, ...more };
}

/** A template with these leaves at the top or one level below it. */
function template(fields: Readonly<Record<string, ComputedLeaf | Readonly<Record<string, ComputedLeaf>> | number>>) {
  const leaves = new Map<string, ComputedLeaf>();
  const marked = (field: unknown): unknown => {
    if (typeof field !== 'object' || field === null) return field;
    if ('expression' in field) {
      const leaf = field as ComputedLeaf;
      leaves.set(placeholderOfLeaf(leaf), leaf);
      return placeholderOfLeaf(leaf);
    }
    return Object.fromEntries(Object.entries(field).map(([key, item]) => [key, marked(item)]));
  };
  const found = templateOf(marked(fields) as Readonly<Record<string, unknown>>, leaves, 'overlay');
  assert.ok(found !== undefined);
  return found;
}

const memory = leafOf('memory', 'quantity("11Mi") * maxPods');

describe('a template', () => {
  it('asks for what its own maxPods is computed from, instead of the pods that a node has now', () => {
    const { inputs } = template({ kubeReserved: { memory }, maxPods: leafOf('maxPods', 'int(labels["pods"])') });
    assert.deepEqual(inputs, { variables: new Set(['memory', 'labels']), labels: ['pods'] });
    assert.deepEqual(template({ kubeReserved: { memory }, maxPods: 30 }).inputs, {
      variables: new Set(['memory']),
      labels: [],
    });
    assert.deepEqual(template({ kubeReserved: { memory } }).inputs.variables, new Set(['maxPods', 'memory']));
  });

  it('gives expressions the pods that it says itself, and none where those cannot be computed', () => {
    const machine = { maxPods: 110, labels: { pods: '30' } };
    const asked = (text: string) =>
      machineWithMaxPods(template({ maxPods: leafOf('maxPods', text), a: memory }), machine);
    assert.equal(asked('int(labels["pods"])').maxPods, 30);
    for (const text of ['int(labels["gone"])', '"many"']) assert.deepEqual(asked(text), { labels: { pods: '30' } });
  });

  it('knows where its computed fields are', () => {
    const found = leafPaths(template({ kubeReserved: { memory }, podPidsLimit: 4096 }));
    assert.deepEqual(found, [{ path: ['kubeReserved', 'memory'], leaf: memory }]);
  });
});

describe('a template in words', () => {
  const rows = [
    [{}, 'computed: memory * 0.06'],
    [{ profile: 'gke' }, 'computed: profile gke'],
    [{ bounds: { min: '255Mi' } }, 'computed: memory * 0.06, at least 255Mi'],
    [{ bounds: { max: '8Gi' } }, 'computed: memory * 0.06, at most 8Gi'],
    [
      { bounds: { min: 1, max: 2, maxShare: '25%' } },
      'computed: memory * 0.06, at least 1, at most 2, at most 25% of the machine',
    ],
  ] as const;
  for (const [more, words] of rows) {
    it(`says ${words}`, () => assert.equal(describeLeaf(leafOf('memory', 'memory * 0.06', more)), words));
  }

  it('has the words in place of the values', () => {
    assert.deepEqual(describeTemplate(template({ kubeReserved: { memory }, podPidsLimit: 4096 })), {
      kubeReserved: { memory: 'computed: quantity("11Mi") * maxPods' },
      podPidsLimit: 4096,
    });
  });
});
