import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { disruptionOf } from '#reconciler/policy/disruption/disruption-of.ts';

const NOTHING = {};
const gates = (featureGates: object): object => ({ featureGates });

describe('the disruption of a change', () => {
  const cases: readonly (readonly [string, object | null, object, string, readonly string[]])[] = [
    ['a first config with a manager of CPUs', null, { cpuManagerPolicy: 'static' }, 'drain', ['cpuManagerPolicy']],
    ['what no manager of memory gives out', NOTHING, { memoryManagerPolicy: 'None' }, 'restart', []],
    ['nothing', { maxPods: 110 }, { maxPods: 110 }, 'restart', []],
    ['a field that a restart is enough for', { maxPods: 110 }, { maxPods: 120 }, 'restart', []],
    [
      'a manager of CPUs that begins to give them out',
      NOTHING,
      { cpuManagerPolicy: 'static' },
      'drain',
      ['cpuManagerPolicy'],
    ],
    ['a manager that gives none out', NOTHING, { reservedSystemCPUs: '0' }, 'restart', []],
    [
      'what a manager of CPUs gives out',
      { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' },
      { cpuManagerPolicy: 'static', reservedSystemCPUs: '0-1' },
      'drain',
      ['reservedSystemCPUs'],
    ],
    ['a manager of memory', { memoryManagerPolicy: 'Static' }, NOTHING, 'drain', ['memoryManagerPolicy']],
    ['a field that pods of before do not follow', NOTHING, { podLogsDir: '/var/log/other' }, 'drain', ['podLogsDir']],
    ['cgroups of another layout', { cgroupRoot: '/a' }, { cgroupRoot: '/b', maxPods: 3 }, 'reboot', ['cgroupRoot']],
    ['the identity of the node', { podCIDR: '10.0.0.0/24' }, NOTHING, 'never', ['podCIDR']],
    ['a gate that no running pod needs', NOTHING, gates({ EventedPLEG: true }), 'restart', []],
    [
      'a gate that running pods need, switched off',
      NOTHING,
      gates({ RestartAllContainersOnContainerExits: false }),
      'drain',
      ['featureGates.RestartAllContainersOnContainerExits'],
    ],
    [
      'a gate that running pods need, left to its default',
      gates({ UserNamespacesHostNetworkSupport: true }),
      NOTHING,
      'drain',
      ['featureGates.UserNamespacesHostNetworkSupport'],
    ],
    ['a gate that pods may need, switched on', NOTHING, gates({ VolumeBindMountOptions: true }), 'restart', []],
    [
      'a gate that changes what the managers write',
      NOTHING,
      gates({ PodLevelResourceManagers: true }),
      'drain',
      ['featureGates.PodLevelResourceManagers'],
    ],
    ['the worst of several', { podLogsDir: '/a' }, { podLogsDir: '/b', cgroupRoot: '/c' }, 'reboot', ['cgroupRoot']],
  ];
  for (const [name, before, after, expected, fields] of cases) {
    it(`of ${name} is ${expected}`, () => {
      const { podLimit: _, ...found } = disruptionOf(before && { ...before }, { ...after });
      assert.deepEqual(found, { class: expected, fields });
    });
  }

  const limits: readonly (readonly [string, object, object, number | undefined])[] = [
    ['where they are fewer', { maxPods: 110 }, { maxPods: 50 }, 50],
    ['where the node may have had more by itself', NOTHING, { maxPods: 50 }, 50],
    ['not where they are more', { maxPods: 50 }, { maxPods: 110 }, undefined],
    ['not where they are as many', { maxPods: 50 }, { maxPods: 50, podLogsDir: '/a' }, undefined],
    ['not where the kubelet chooses', { maxPods: 50 }, NOTHING, undefined],
    ['not where nobody ever said', NOTHING, { podLogsDir: '/a' }, undefined],
  ];
  for (const [name, before, after, podLimit] of limits) {
    it(`says how many pods may run afterwards: ${name}`, () => {
      const { class: _, fields: __, ...found } = disruptionOf({ ...before }, { ...after });
      assert.deepEqual(found, podLimit === undefined ? {} : { podLimit });
    });
  }
});
