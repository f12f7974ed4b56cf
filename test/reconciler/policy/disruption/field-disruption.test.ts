import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { disruptionOf } from '#reconciler/policy/disruption/field-disruption.ts';

const NOTHING = {};
const gates = (featureGates: object): object => ({ featureGates });

describe('the disruption of a change', () => {
  const cases: readonly (readonly [string, object | null, object, string, ...(readonly string[])])[] = [
    ['a first config with a manager of CPUs', null, { cpuManagerPolicy: 'static' }, 'drain', 'cpuManagerPolicy'],
    ['what no manager of memory gives out', NOTHING, { memoryManagerPolicy: 'None' }, 'restart'],
    ['nothing', { maxPods: 110 }, { maxPods: 110 }, 'restart'],
    ['a field that a restart is enough for', { maxPods: 110 }, { maxPods: 120 }, 'restart'],
    [
      'a manager of CPUs that begins to give them out',
      NOTHING,
      { cpuManagerPolicy: 'static' },
      'drain',
      'cpuManagerPolicy',
    ],
    ['a manager that gives none out', NOTHING, { reservedSystemCPUs: '0' }, 'restart'],
    [
      'what a manager of CPUs gives out',
      { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' },
      { cpuManagerPolicy: 'static', reservedSystemCPUs: '0-1' },
      'drain',
      'reservedSystemCPUs',
    ],
    ['a manager of memory', { memoryManagerPolicy: 'Static' }, NOTHING, 'drain', 'memoryManagerPolicy'],
    ['a field that pods of before do not follow', NOTHING, { podLogsDir: '/var/log/other' }, 'drain', 'podLogsDir'],
    ['cgroups of another layout', { cgroupRoot: '/a' }, { cgroupRoot: '/b', maxPods: 3 }, 'reboot', 'cgroupRoot'],
    ['the identity of the node', { podCIDR: '10.0.0.0/24' }, NOTHING, 'never', 'podCIDR'],
    ['a gate that no running pod needs', NOTHING, gates({ EventedPLEG: true }), 'restart'],
    [
      'a gate that running pods need, switched off',
      NOTHING,
      gates({ RestartAllContainersOnContainerExits: false }),
      'drain',
      'featureGates.RestartAllContainersOnContainerExits',
    ],
    [
      'a gate that running pods need, left to its default',
      gates({ UserNamespacesHostNetworkSupport: true }),
      NOTHING,
      'drain',
      'featureGates.UserNamespacesHostNetworkSupport',
    ],
    ['a gate that pods may need, switched on', NOTHING, gates({ VolumeBindMountOptions: true }), 'restart'],
    [
      'a gate that changes what the managers write',
      NOTHING,
      gates({ PodLevelResourceManagers: true }),
      'drain',
      'featureGates.PodLevelResourceManagers',
    ],
    ['the worst of several', { podLogsDir: '/a' }, { podLogsDir: '/b', cgroupRoot: '/c' }, 'reboot', 'cgroupRoot'],
  ];
  for (const [name, before, after, expected, ...fields] of cases) {
    it(`of ${name} is ${expected}`, () => {
      const { podLimit: _, features: __, ...found } = disruptionOf(before && { ...before }, { ...after });
      assert.deepEqual(found, { class: expected, fields });
    });
  }

  const ALPHA = 'featureGates.AllAlpha';
  const BETA = 'featureGates.AllBeta';
  const stages: readonly (readonly [string, object, object, number | undefined, string?])[] = [
    ['every alpha gate switched on, where one changes the state files', {}, { AllAlpha: true }, 36, ALPHA],
    [
      'the same, where it is named',
      { PodLevelResourceManagers: false },
      { AllAlpha: true, PodLevelResourceManagers: false },
      36,
    ],
    ['the same before there was such a gate', {}, { AllAlpha: true }, 34],
    ['every alpha gate switched on, where pods may need some and state files stay', {}, { AllAlpha: true }, 37],
    ['every alpha gate left to its default', { AllAlpha: true }, {}, 37, ALPHA],
    ['every alpha gate switched off that was off', {}, { AllAlpha: false }, 37],
    ['every beta gate switched off, where running pods need one', {}, { AllBeta: false }, 36, BETA],
    ['every beta gate switched off before there was such a one', {}, { AllBeta: false }, 34],
    [
      'every beta gate switched off but for the one that pods need',
      { RestartAllContainersOnContainerExits: true },
      { AllBeta: false, RestartAllContainersOnContainerExits: true },
      36,
    ],
    ['every beta gate switched on again', { AllBeta: false }, {}, 36],
    ['every beta gate switched on, where one that is off changes the state files', {}, { AllBeta: true }, 37, BETA],
    ['every beta gate, for a kubelet that is newer than the tables', {}, { AllBeta: true }, 99, BETA],
    ['every alpha gate, for a kubelet that nobody knows', {}, { AllAlpha: true }, undefined, ALPHA],
    ['every beta gate that was off, for a kubelet that nobody knows', { AllBeta: null }, { AllBeta: false }, undefined],
  ];
  for (const [name, before, after, minor, field] of stages) {
    it(`of ${name} is ${field === undefined ? 'restart' : 'drain'}`, () => {
      const { features: _, ...found } = disruptionOf({ ...gates(before) }, { ...gates(after) }, minor);
      assert.deepEqual(
        found,
        field === undefined ? { class: 'restart', fields: [] } : { class: 'drain', fields: [field] },
      );
    });
  }

  const OFF = { RestartAllContainersOnContainerExits: false };
  const RESTARTS = 'RestartAllContainersOnContainerExits';
  const lost: readonly (readonly [string, object, object, number | undefined, readonly string[] | undefined])[] = [
    ['of a gate', gates({}), gates(OFF), 36, [RESTARTS]],
    ['of two', NOTHING, gates({ ...OFF, VolumeBindMountOptions: false }), 37, [RESTARTS, 'VolumeBindMountOptions']],
    ['of a gate, beside fields that ask for nothing', { maxPods: 1 }, { ...gates(OFF), maxPods: 2 }, 36, [RESTARTS]],
    ['of a stage', gates({ AllAlpha: true }), NOTHING, 35, [RESTARTS, 'UserNamespacesHostNetworkSupport']],
    ['of none where state files change with the stage', gates({ AllAlpha: true }), NOTHING, 36, undefined],
    ['of none where something else asks for a drain', { podLogsDir: '/a' }, gates(OFF), 36, undefined],
    ['of none where something else asks for more', { cgroupRoot: '/a' }, gates(OFF), 36, undefined],
    ['of none where a restart is enough', NOTHING, gates({ VolumeBindMountOptions: true }), 37, undefined],
  ];
  for (const [name, before, after, minor, features] of lost) {
    it(`says which features pods may miss: ${name}`, () =>
      assert.deepEqual(disruptionOf({ ...before }, { ...after }, minor).features, features));
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
