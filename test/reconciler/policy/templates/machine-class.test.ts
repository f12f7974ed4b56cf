import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  classOf,
  classSize,
  readSizes,
  smallestIn,
  sortedMachine,
  writeSizes,
} from '#reconciler/policy/templates/machine-class.ts';
import { machineOf } from '#reconciler/policy/templates/machine.ts';
import type { Variable } from '#reconciler/policy/templates/expression-language.ts';
import { fc } from '../../../support/property.ts';

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const size = fc.integer({ min: 64 * MEBIBYTE, max: 2 ** 45 });

describe('the class of a size', () => {
  const rows = [
    [512 * MEBIBYTE, 512 * MEBIBYTE],
    [16 * GIBIBYTE, 16 * GIBIBYTE],
    // Three VMs of 16 GiB with what their kernels leave.
    [15_912 * MEBIBYTE, 15.5 * GIBIBYTE],
    [15_896 * MEBIBYTE, 15.5 * GIBIBYTE],
    [15_999 * MEBIBYTE, 15.5 * GIBIBYTE],
    [17 * GIBIBYTE, 17 * GIBIBYTE],
    [16 * GIBIBYTE + 1, 16 * GIBIBYTE],
    [0, 0],
  ] as const;
  for (const [own, expected] of rows) {
    it(`of ${own / MEBIBYTE} MiB begins at ${expected / MEBIBYTE} MiB`, () => assert.equal(classSize(own), expected));
  }

  it('is the same for its own lower end, is never above it, and grows with it', () => {
    fc.assert(
      fc.property(size, size, (one, other) => {
        const lower = classSize(one);
        assert.equal(classSize(lower), lower);
        assert.ok(lower <= one && lower > one * (15 / 16));
        assert.ok(one > other || lower <= classSize(other));
      }),
    );
  });

  it('is the one that a machine was in, until its size is a quarter of a step beyond the ends', () => {
    const had = 15.5 * GIBIBYTE;
    const step = GIBIBYTE / 2;
    for (const [own, expected] of [
      [had - step / 4, had],
      [had - step / 4 - 1, had - step],
      [had + step * 1.25 - 1, had],
      [had + step * 1.25, 16 * GIBIBYTE],
      [64 * GIBIBYTE, 64 * GIBIBYTE],
    ] as const) {
      assert.equal(classSize(own, had), expected, String(own / MEBIBYTE));
    }
  });

  it('follows no record that is not the lower end of a class, nor one that is far away', () => {
    assert.equal(classSize(16 * GIBIBYTE, 16 * GIBIBYTE - 4096), 16 * GIBIBYTE);
    assert.equal(classSize(16 * GIBIBYTE, -1), 16 * GIBIBYTE);
    assert.equal(classSize(16 * GIBIBYTE, 8 * GIBIBYTE), 16 * GIBIBYTE);
  });

  it('holds no machine that is smaller than its smallest, and none changes it by moving back and forth', () => {
    fc.assert(
      fc.property(size, fc.array(fc.integer({ min: -64, max: 64 }), { maxLength: 8 }), (first, moves) => {
        let had = classSize(first);
        let own = first;
        for (const move of moves) {
          own = Math.max(MEBIBYTE, own + move * MEBIBYTE);
          had = classSize(own, had);
          assert.ok(own >= smallestIn(had));
          assert.equal(classSize(own, had), had);
        }
      }),
    );
  });
});

describe('the class of a machine', () => {
  const node = (memory: string, labels: Readonly<Record<string, string>> = {}) =>
    machineOf({
      size: {
        kubeletVersion: 'v1.36.0',
        capacity: { cpu: '4', memory, pods: '110', 'ephemeral-storage': '100Gi' },
        allocatable: {},
      },
      labels: { 'kubernetes.io/arch': 'amd64', ...labels },
    });
  const asks = (variables: readonly Variable[], labels: readonly string[] = []) => ({
    variables: new Set(variables),
    labels,
  });

  it('is known by what the template asks for, and by nothing else', () => {
    const sorted = sortedMachine(node('16294040Ki', { tier: 'gold', other: 'x' }));
    assert.equal(classOf(sorted, asks(['memory', 'milliCpu'])).name, 'cpu=4,memory=15872Mi');
    assert.equal(
      classOf(sorted, asks(['maxPods', 'arch', 'labels'], ['tier'])).name,
      'maxPods=110,arch=amd64,tier=gold',
    );
    assert.equal(classOf(sorted, asks([])).name, 'any');
    assert.equal(classOf(sorted, asks(['ephemeralStorage'])).machine.memory, undefined);
  });

  it('is known by nothing that its Node and its agent do not say', () => {
    const all = asks(['cpu', 'memory', 'ephemeralStorage', 'maxPods', 'numaNodes', 'arch'], ['tier']);
    assert.deepEqual(classOf(machineOf({ labels: {} }), all), { name: 'any', machine: { labels: {} } });
  });

  it('outlives a new kernel by what was kept of it', () => {
    const before = sortedMachine(node('15872Mi'));
    const kept = readSizes(writeSizes(before));
    assert.equal(sortedMachine(node('15840Mi'), kept).memory, before.memory);
    assert.equal(sortedMachine(node('15840Mi')).memory, 15 * GIBIBYTE);
    assert.equal(sortedMachine(node('8Gi'), kept).memory, 8 * GIBIBYTE);
  });

  it('reads no record that makes no sense', () => {
    assert.deepEqual(readSizes(undefined), {});
    assert.deepEqual(readSizes('memory=,cpu=4,ephemeralStorage=-1Gi,=,memory'), {});
  });

  it('does not know what its Node does not say', () => {
    assert.deepEqual(machineOf({ labels: { a: 'b' } }), { labels: { a: 'b' } });
    assert.equal(
      machineOf({ size: { kubeletVersion: '', capacity: { memory: '0', cpu: 'x' }, allocatable: {} }, labels: {} })
        .memory,
      undefined,
    );
  });
});
