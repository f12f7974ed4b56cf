import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELDS, childrenOf, defaultOf, valuesOf } from '#shared/contract/kubelet-config/fields/fields.ts';
import {
  gateDependencies,
  gateHistory,
  gateNames,
  gateSpec,
} from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { GATE_DEPENDENCIES } from '#shared/contract/kubelet-config/feature-gates/gates.generated.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { minorName, minorNumber, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => OLDEST_MINOR + index);
const field = (path: string) => {
  const found = FIELDS.get(path);
  assert.ok(found !== undefined, path);
  return found;
};

describe('the table of fields', () => {
  it('has a parent for every nested field, and the parent is older', () => {
    for (const [path, { since = 0 }] of FIELDS) {
      const dot = path.lastIndexOf('.');
      if (dot < 0) continue;
      const parentPath = path.slice(0, dot).replace(/\[\]$/, '');
      const parent = field(parentPath);
      assert.ok(['struct', 'struct-list'].includes(parent.kind), `${path} is in a ${parent.kind}`);
      assert.ok((parent.since ?? 0) <= since || parent.since === undefined, `${path} is older than ${parentPath}`);
    }
  });

  it('names only gates that exist', () => {
    for (const [path, { gate }] of FIELDS) if (gate !== undefined) assert.ok(gateHistory(gate) !== undefined, path);
  });

  it('has defaults that its own rules let through', () => {
    for (const minor of MINORS) {
      for (const [path, known] of FIELDS) {
        const value = defaultOf(known, minor);
        if (value === undefined || path.includes('.') || minor < (known.since ?? 0) || known.gate !== undefined)
          continue;
        const errors = validateKubeletConfig({ [path]: value }, { minor: minorName(minor) });
        assert.deepEqual(errors, [], `${path} at ${minorName(minor)}`);
      }
    }
  });

  it('answers by version', () => {
    assert.equal(defaultOf(field('kubeAPIQPS'), 26), 5);
    assert.equal(defaultOf(field('kubeAPIQPS'), 27), 50);
    assert.deepEqual(valuesOf(field('memorySwap.swapBehavior'), 29), ['LimitedSwap', 'UnlimitedSwap']);
    assert.deepEqual(valuesOf(field('memorySwap.swapBehavior'), 30), ['LimitedSwap', 'NoSwap']);
  });

  it('lists what is in a struct', () =>
    assert.deepEqual(childrenOf('authentication').toSorted(), ['anonymous', 'webhook', 'x509']));
});

describe('the table of gates', () => {
  it('has spans in order', () => {
    for (const name of gateNames()) {
      const spans = gateHistory(name) ?? [];
      assert.ok(spans.length > 0, name);
      for (const [index, span] of spans.entries()) {
        assert.ok(span.from >= OLDEST_MINOR && span.from <= NEWEST_MINOR, `${name} ${span.from}`);
        assert.ok(span.from > (spans[index - 1]?.from ?? 0), name);
        assert.ok(span.spec !== null || index === spans.length - 1, `${name} comes back`);
      }
    }
  });

  it('knows a gate from its first minor to its last', () => {
    assert.equal(gateSpec('DynamicKubeletConfig', 21)?.default, true);
    assert.equal(gateSpec('DynamicKubeletConfig', 22)?.default, false);
    assert.equal(gateSpec('DynamicKubeletConfig', 26), undefined);
    assert.equal(gateSpec('NodeSwap', 21), undefined);
    assert.deepEqual(gateSpec('NodeSwap', 34), { stage: 'ga', default: true, locked: true });
  });

  it('tells what each gate was when, and what it needs', () => {
    const life = (name: string): readonly string[] =>
      (gateHistory(name) ?? []).map(({ from, spec }) =>
        spec === null
          ? `${from} gone`
          : `${from} ${spec.stage} ${spec.default ? 'on' : 'off'}${spec.locked ? ' locked' : ''}`,
      );
    assert.deepEqual(life('AppArmor'), ['20 beta on', '31 ga on locked', '33 gone']);
    assert.deepEqual(life('AllBeta'), ['20 beta off']);
    assert.deepEqual(life('AdvancedAuditing'), ['20 ga on', '27 ga on locked', '28 gone']);
    assert.deepEqual(life('DRADerivedAttributes'), ['37 alpha off']);
    assert.deepEqual(GATE_DEPENDENCIES['DRADerivedAttributes'], ['37 DynamicResourceAllocation']);
    assert.deepEqual(gateDependencies('DRADerivedAttributes', 37), ['DynamicResourceAllocation']);
    assert.deepEqual(gateDependencies('DRADerivedAttributes', 36), []);
  });

  it('has dependencies among known gates', () => {
    for (const [gate, others] of Object.entries(GATE_DEPENDENCIES)) {
      for (const name of [gate, ...others.map((line) => line.split(' ').at(-1) ?? '')])
        assert.ok(gateHistory(name) !== undefined, name);
    }
  });
});

describe('a version', () => {
  it('is read with and without its patch', () => {
    assert.equal(minorNumber('1.34'), 34);
    assert.equal(minorNumber('v1.20.15-gke.100'), 20);
    assert.equal(minorNumber('2.1'), undefined);
    assert.equal(minorNumber('1.3x'), undefined);
  });
});
