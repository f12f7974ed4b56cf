import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cgroupFileOf,
  isLimit,
  limitsSetBy,
  busValueOf,
  limitsToRestore,
  limitsToRecord,
  unitOf,
  systemdValueOf,
} from '#agent/decide/cgroup-limits.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

type Fields = Readonly<Record<string, unknown>>;

const SYSTEM: Fields = {
  enforceNodeAllocatable: ['pods', 'system-reserved'],
  systemReservedCgroup: '/system.slice',
  systemReserved: { memory: '40Mi', cpu: '100m', pid: '500', 'ephemeral-storage': '1Gi' },
};
const KUBE: Fields = {
  enforceNodeAllocatable: ['kube-reserved'],
  kubeReservedCgroup: '/runtime.slice',
  kubeReserved: { memory: '1Gi' },
};

/** What is the matter; the config; what a kubelet sets with it; its version, and that of the cgroups, where not 34 and 2. */
const rows: readonly (readonly [string, Fields, readonly string[], number?, (1 | 2)?])[] = [
  ['nothing is enforced but on pods', { ...SYSTEM, enforceNodeAllocatable: ['pods'] }, []],
  ['nothing is said of it', { systemReservedCgroup: '/system.slice', systemReserved: { memory: '1Gi' } }, []],
  ['all is enforced', SYSTEM, ['system.slice MemoryMax', 'system.slice CPUWeight', 'system.slice TasksMax']],
  [
    'all is enforced under version 1',
    SYSTEM,
    ['system.slice MemoryLimit', 'system.slice CPUShares', 'system.slice TasksMax'],
    28,
    1,
  ],
  [
    'only what can be squeezed',
    { ...SYSTEM, enforceNodeAllocatable: ['system-reserved-compressible'] },
    ['system.slice CPUWeight'],
  ],
  [
    'memory is protected as well',
    { ...KUBE, featureGates: { MemoryQoS: true } },
    ['runtime.slice MemoryMax', 'runtime.slice MemoryMin'],
  ],
  ['the gate is on by default', KUBE, ['runtime.slice MemoryMax', 'runtime.slice MemoryMin'], 37],
  [
    'both are enforced',
    { ...SYSTEM, ...KUBE, enforceNodeAllocatable: ['system-reserved', 'kube-reserved'], systemReserved: { pid: '9' } },
    ['system.slice TasksMax', 'runtime.slice MemoryMax'],
  ],
  [
    'systemd makes the cgroups, and so a slice of any name',
    { ...SYSTEM, cgroupDriver: 'systemd', systemReservedCgroup: '/reserved', systemReserved: { pid: '9' } },
    ['reserved.slice TasksMax'],
  ],
  ['no cgroup is named', { ...SYSTEM, systemReservedCgroup: undefined }, []],
  ['the cgroup is none of systemd’s', { ...SYSTEM, systemReservedCgroup: '/reserved' }, []],
];

describe('what a kubelet limits outside of its pods', () => {
  for (const [what, config, expected, minor = 34, version = 2] of rows) {
    it(`where ${what}`, () => assert.deepEqual(limitsSetBy(viewOf(config, minor, 'replace'), version), expected));
  }
});

describe('the unit of a cgroup', () => {
  for (const [cgroup, driver, unit] of [
    ['/system.slice', 'cgroupfs', 'system.slice'],
    ['/system.slice', 'systemd', 'system.slice'],
    ['/a/foo-bar.slice', 'systemd', 'foo-bar.slice'],
    ['/a/foo-bar', 'systemd', 'foo-bar.slice'],
    ['/a/foo.slices', 'systemd', 'foo.slices.slice'],
    ['/system.slice/docker.service/', 'cgroupfs', 'docker.service'],
    ['/system.slice/docker.service.d', 'cgroupfs', undefined],
    ['/reserved', 'cgroupfs', undefined],
    ['/', 'systemd', undefined],
    ['/', 'cgroupfs', undefined],
    ['', 'cgroupfs', undefined],
    ['/-.slice', 'cgroupfs', undefined],
    ['/a b.slice', 'cgroupfs', undefined],
    ['/a;b.slice', 'systemd', undefined],
  ] as const) {
    it(`${cgroup} under ${driver}: ${unit}`, () => assert.equal(unitOf(cgroup, driver), unit));
  }
});

describe('what is noted and lifted', () => {
  it('is what the config before did not set', () => {
    assert.deepEqual(limitsToRecord(['a', 'b', 'c'], ['b'], { c: 'infinity' }), ['a']);
  });

  it('is what the next config does not set', () => {
    assert.deepEqual(limitsToRestore({ a: '1', b: '2' }, ['b', 'c']), { a: '1' });
  });

  for (const [property, version, file] of [
    ['MemoryMax', 2, 'system.slice/memory.max'],
    ['MemoryMin', 2, 'system.slice/memory.min'],
    ['CPUWeight', 2, 'system.slice/cpu.weight'],
    ['TasksMax', 2, 'system.slice/pids.max'],
    ['MemoryLimit', 1, 'memory/system.slice/memory.limit_in_bytes'],
    ['CPUShares', 1, 'cpu/system.slice/cpu.shares'],
    ['TasksMax', 1, 'pids/system.slice/pids.max'],
  ] as const) {
    it(`is read where the kernel of version ${version} has ${property}`, () =>
      assert.equal(cgroupFileOf(property, 'system.slice', version), file));
  }

  for (const [property, text, value, number] of [
    ['MemoryMax', 'max\n', 'infinity', 2n ** 64n - 1n],
    ['MemoryMax', '41943040\n', '41943040', 41_943_040n],
    ['MemoryMax', undefined, 'infinity', 2n ** 64n - 1n],
    ['MemoryLimit', '41943040\n', '41943040', 41_943_040n],
    ['MemoryLimit', '9223372036854771711\n', '9223372036854771711', 2n ** 63n - 4097n],
    ['MemoryLimit', '9223372036854771712\n', 'infinity', 2n ** 64n - 1n],
    ['MemoryLimit', undefined, 'infinity', 2n ** 64n - 1n],
    ['MemoryMin', undefined, '0', 0n],
    ['CPUWeight', '79\n', '79', 79n],
    ['CPUWeight', undefined, '', 2n ** 64n - 1n],
    ['CPUShares', '1024\n', '1024', 1_024n],
    ['CPUShares', undefined, '', 2n ** 64n - 1n],
    ['TasksMax', 'max\n', 'infinity', 2n ** 64n - 1n],
    ['TasksMax', 'garbage; reboot', 'infinity', 2n ** 64n - 1n],
    ['TasksMax', 'max 100000', 'infinity', 2n ** 64n - 1n],
    ['TasksMax', '100000 max', 'infinity', 2n ** 64n - 1n],
  ] as const) {
    it(`${property} of ${JSON.stringify(text)} is "${value}"`, () => {
      assert.equal(systemdValueOf(property, text), value);
      assert.equal(busValueOf(value), number);
      assert.ok(isLimit(`system.slice ${property}`, value));
    });
  }

  for (const [name, value] of [
    ['system.slice MemoryMax', 'none'],
    ['system.slice MemoryMax', 4],
    ['system.slice MemoryMax', '123456789012345678901'],
    ['system.slice ExecStart', '1'],
    ['system.slice', '1'],
    ['-.slice MemoryMax', '1'],
    ['a b.slice MemoryMax', '1'],
    ['system.slice MemoryMax CPUWeight', '1'],
    ['../x MemoryMax', '1'],
  ] as const) {
    it(`is never ${name}=${value}`, () => assert.equal(isLimit(name, value), false));
  }
});
