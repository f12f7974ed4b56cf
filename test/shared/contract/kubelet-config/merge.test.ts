import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../support/property.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { composeLayers, composePatches, type Layer, mergePatch } from '#shared/contract/kubelet-config/merge.ts';

const layer = (file: string, text: string): Layer => {
  const header = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  const { value = {}, positionOf } = decodeKubeletConfig(Buffer.from(header + text), file);
  return { file, value, positionOf };
};
const compose = (texts: readonly string[], apply: 'overlay' | 'replace') => {
  const composed = composeLayers(
    texts.map((text, index) => layer(`${index}.yaml`, text)),
    apply,
  );
  const { apiVersion: _version, kind: _kind, ...value } = composed.value;
  return { ...composed, value };
};

describe('layers', () => {
  it('merge maps by key', () => {
    const { value } = compose(['kubeReserved: {cpu: 100m, memory: 1Gi}', 'kubeReserved: {memory: 2Gi}'], 'replace');
    assert.deepEqual(value, { kubeReserved: { cpu: '100m', memory: '2Gi' } });
  });

  it('replace lists and single values whole', () => {
    const { value } = compose(['clusterDNS: [a, b]\nmaxPods: 5', 'clusterDNS: [c]\nmaxPods: 6'], 'replace');
    assert.deepEqual(value, { clusterDNS: ['c'], maxPods: 6 });
  });

  it('take a field back with null, which then is gone in a whole config', () => {
    const { value } = compose(
      ['maxPods: 5\nlogging: {format: json, verbosity: 3}', 'maxPods: null\nlogging: {format: null}'],
      'replace',
    );
    assert.deepEqual(value, { logging: { verbosity: 3 } });
  });

  it('keep null in an overlay, because the node may have set the field', () => {
    const { value } = compose(['maxPods: 5', 'maxPods: null\nevictionSoft: {memory.available: null}'], 'overlay');
    assert.deepEqual(value, { maxPods: null, evictionSoft: { 'memory.available': null } });
  });

  it('may set again what was taken back', () => {
    assert.deepEqual(compose(['maxPods: null', 'maxPods: 7'], 'overlay').value, { maxPods: 7 });
  });

  it('cannot take a map back and fill it again in an overlay, and say where', () => {
    const texts = ['kubeReserved: null', 'kubeReserved: {cpu: 1}'];
    const [finding, ...more] = compose(texts, 'overlay').findings;
    assert.deepEqual(more, []);
    assert.deepEqual(
      [finding?.code, finding?.file, finding?.line, finding?.field],
      ['null-then-map', '1.yaml', 3, 'kubeReserved'],
    );
    assert.deepEqual(compose(texts, 'replace').findings, []);
    assert.deepEqual(compose(texts, 'replace').value, { kubeReserved: { cpu: 1 } });
  });

  it('know which of them set a value', () => {
    const { positionOf } = compose(['maxPods: 5\nlogging: {format: json}', 'logging:\n  verbosity: 3'], 'replace');
    assert.deepEqual(positionOf(['maxPods']), { file: '0.yaml', line: 3, column: 1 });
    assert.deepEqual(positionOf(['logging', 'format']), { file: '0.yaml', line: 4, column: 11 });
    assert.deepEqual(positionOf(['logging', 'verbosity']), { file: '1.yaml', line: 4, column: 3 });
    assert.deepEqual(positionOf(['logging', 'missing']), { file: '1.yaml', line: 3, column: 1 });
  });
});

const keys = fc.constantFrom('a', 'b', 'c', '__proto__');
const leaf = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(null), fc.constant([1]), fc.constant('x'));
const { patch } = fc.letrec<{ patch: Readonly<Record<string, unknown>>; item: unknown }>((tie) => ({
  patch: fc.dictionary(keys, tie('item'), { maxKeys: 3 }),
  item: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('patch')),
}));
const target = patch.map((value) => mergePatch({}, value) as Readonly<Record<string, unknown>>);

describe('merge patches', () => {
  it('compose to one that does what both do, wherever one can', () => {
    forAll(target, patch, patch, (start, first, second) => {
      const { patch: both, lost } = composePatches(first, second);
      fc.pre(lost.length === 0);
      assert.deepEqual(mergePatch(start, both), mergePatch(mergePatch(start, first), second));
    });
  });

  it('are lost only where some target shows the difference', () => {
    forAll(patch, patch, (first, second) => {
      const { patch: both, lost } = composePatches(first, second);
      fc.pre(lost.length > 0);
      const start = lost.reduce((whole, path) => mergePatch(whole, nested(path, { other: 1 })), {} as unknown);
      assert.notDeepEqual(mergePatch(start, both), mergePatch(mergePatch(start, first), second));
    });
  });

  it('compose in any grouping', () => {
    forAll(patch, patch, patch, (a, b, c) => {
      const left = composePatches(a, b);
      const right = composePatches(b, c);
      const grouped = [composePatches(left.patch, c), composePatches(a, right.patch)] as const;
      fc.pre([left, right, ...grouped].every(({ lost }) => lost.length === 0));
      assert.deepEqual(grouped[0].patch, grouped[1].patch);
    });
  });

  it('change nothing that they are given', () => {
    forAll(patch, patch, (first, second) => {
      const before = JSON.stringify([first, second]);
      composePatches(first, second);
      mergePatch(first, second);
      assert.equal(JSON.stringify([first, second]), before);
    });
  });
});

function nested(path: readonly (string | number)[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => Object.fromEntries([[step, inner]]), value);
}
