import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cgroupPath } from '#agent/preflight/checks/cgroups.ts';
import { checkRows, type Fields } from '../support/on-host.ts';

const MIB = 2 ** 20;
const SLICE: Fields = {
  enforceNodeAllocatable: ['pods', 'system-reserved'],
  systemReservedCgroup: '/system.slice',
  systemReserved: { memory: '40Mi' },
};

describe('preflight of cgroups', () => {
  checkRows([
    ['cgroups of version 1, by default', {}, { cgroupVersion: 1 }, ['error cgroup-v1 failCgroupV1'], 35],
    ['cgroups of version 1, before', {}, { cgroupVersion: 1 }, []],
    [
      'swap to be limited on version 1',
      { memorySwap: { swapBehavior: 'LimitedSwap' } },
      { cgroupVersion: 1 },
      ['error cgroup-v1 memorySwap.swapBehavior'],
    ],
    ['swap that is not limited', { memorySwap: { swapBehavior: 'NoSwap' } }, { cgroupVersion: 1 }, []],
    ['limited swap on version 2', { memorySwap: { swapBehavior: 'LimitedSwap' } }, { cgroupVersion: 2 }, []],
    [
      'what 1.29 did not ask',
      { memorySwap: { swapBehavior: 'LimitedSwap' }, featureGates: { NodeSwap: true } },
      { cgroupVersion: 1 },
      [],
      29,
    ],
    [
      'single processes to be ended on version 1',
      { singleProcessOOMKill: false },
      { cgroupVersion: 1 },
      ['error cgroup-v1 singleProcessOOMKill'],
      32,
    ],
    ['whole containers', { singleProcessOOMKill: true }, { cgroupVersion: 1 }, []],
    [
      'a cgroup that lacks a controller',
      { enforceNodeAllocatable: ['pods', 'system-reserved'], systemReservedCgroup: '/system.slice' },
      {
        cgroups: new Map([['systemReservedCgroup', true]]),
        cgroupGaps: new Map([['systemReservedCgroup', ['cpuset']]]),
      },
      ['error cgroup-missing systemReservedCgroup'],
    ],
    [
      'a cgroup that is not there',
      { enforceNodeAllocatable: ['pods', 'system-reserved'], systemReservedCgroup: '/sys' },
      { cgroups: new Map([['systemReservedCgroup', false]]) },
      ['error cgroup-missing systemReservedCgroup'],
    ],
    [
      'a cgroup that nobody enforces',
      { systemReservedCgroup: '/sys', kubeReservedCgroup: '/kube' },
      {
        cgroups: new Map([
          ['systemReservedCgroup', false],
          ['kubeReservedCgroup', false],
        ]),
      },
      [],
    ],
    [
      'a root of cgroups that is not there',
      { cgroupRoot: '/k' },
      { cgroups: new Map([['cgroupRoot', false]]) },
      ['error cgroup-missing cgroupRoot'],
    ],
    [
      'a runtime of another driver',
      { cgroupDriver: 'systemd' },
      { runtimeDriver: { driver: 'cgroupfs', file: '/etc/containerd/config.toml' } },
      ['error cgroup-driver cgroupDriver'],
      27,
    ],
    [
      'a runtime that the kubelet may ask',
      { cgroupDriver: 'systemd' },
      { runtimeDriver: { driver: 'cgroupfs', file: '/etc/containerd/config.toml' } },
      ['warning cgroup-driver cgroupDriver'],
    ],
    [
      'limits on a cgroup that nobody can be told to lift',
      { ...SLICE, systemReservedCgroup: '/reserved' },
      {},
      ['warning limit-stays systemReservedCgroup'],
    ],
    [
      'limits of hugepages, which systemd knows nothing of',
      { ...SLICE, systemReserved: { 'hugepages-2Mi': '4Mi' } },
      {},
      ['warning limit-stays systemReservedCgroup'],
    ],
    ['limits that can be lifted', SLICE, {}, []],
    [
      'a reserved cgroup that uses more than its limit would be',
      SLICE,
      { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB + 1 }]]) },
      ['error cgroup-too-small systemReserved'],
    ],
    [
      'a reserved cgroup that uses as much',
      SLICE,
      { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB, pids: 500 }]]) },
      [],
    ],
    [
      'a reserved cgroup with more processes than it may have',
      { ...SLICE, systemReserved: { pid: '100' } },
      { cgroupUse: new Map([['systemReservedCgroup', { bytes: 40 * MIB, pids: 101 }]]) },
      ['error cgroup-too-small systemReserved'],
    ],
    [
      'a reserved cgroup that is only named',
      { ...SLICE, enforceNodeAllocatable: ['pods', 'system-reserved-compressible'] },
      { cgroupUse: new Map([['systemReservedCgroup', { bytes: 80 * MIB }]]) },
      [],
    ],
  ]);
});

describe('the directory of a cgroup', () => {
  const rows = [
    ['systemReservedCgroup', '/system', 'cgroupfs', '/system'],
    ['systemReservedCgroup', '/system.slice', 'systemd', 'system.slice'],
    ['kubeReservedCgroup', '/a/foo-bar.slice', 'systemd', 'foo.slice/foo-bar.slice'],
    ['kubeReservedCgroup', 'system', 'systemd', 'system.slice'],
    ['cgroupRoot', '/a/b', 'cgroupfs', '/a/b'],
    ['cgroupRoot', '/a/b', 'systemd', 'a.slice/a-b.slice'],
    ['cgroupRoot', '/kube-pods', 'systemd', 'kube_pods.slice'],
    ['cgroupRoot', '/a.slice', 'systemd', 'a.slice.slice'],
  ] as const;
  for (const [field, name, driver, path] of rows) {
    it(`of ${field}: ${name} is ${path} to ${driver}`, () => assert.equal(cgroupPath(field, name, driver), path));
  }
});
