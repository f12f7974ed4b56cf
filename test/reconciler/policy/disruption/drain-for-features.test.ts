import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainForFeatures } from '#reconciler/policy/disruption/drain-for-features.ts';
import type { Disruption } from '#reconciler/policy/disruption/field-disruption.ts';
import { featureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';

const RESTART = 'RestartAllContainersOnContainerExits';
const USERS = 'UserNamespacesHostNetworkSupport';
const POD = { metadata: { name: 'a', namespace: 'prod' }, spec: { hostNetwork: true, hostUsers: false } };

describe('a drain for pods that may need a feature', () => {
  const drain: Disruption = { class: 'drain', fields: ['featureGates.AllAlpha'], features: [RESTART, USERS] };
  const needs = featureNeeds([POD]);

  it('stays one where nobody may look at the pods, and where it is for something else as well', () => {
    assert.equal(drainForFeatures(drain, [], undefined), drain);
    const other: Disruption = { class: 'drain', fields: ['podLogsDir'] };
    assert.equal(drainForFeatures(other, [USERS], needs), other);
  });

  it('is a restart where none needs one', () => {
    assert.deepEqual(drainForFeatures({ ...drain, podLimit: 5 }, [USERS], new Map()), {
      class: 'restart',
      fields: [],
      podLimit: 5,
    });
    assert.deepEqual(drainForFeatures({ ...drain, features: [RESTART] }, [RESTART], needs), {
      class: 'restart',
      fields: [],
    });
  });

  it('is a restart where the Node declares other features: its kubelet does not admit by this one', () => {
    assert.deepEqual(drainForFeatures(drain, [RESTART], needs), { class: 'restart', fields: [] });
  });

  it('names the pods where some need one that the Node declares, or that says nothing of features', () => {
    const named = { ...drain, fields: [`featureGates.${USERS} (needed by prod/a)`] };
    assert.deepEqual(drainForFeatures(drain, [USERS], needs), named);
    assert.deepEqual(drainForFeatures(drain, undefined, needs), named);
    const many = new Map([[RESTART, { names: ['x/a', 'x/b', 'x/c'], count: 5 }]] as const);
    assert.deepEqual(drainForFeatures(drain, [RESTART], many).fields, [
      `featureGates.${RESTART} (needed by x/a, x/b, x/c and 2 more)`,
    ]);
  });
});
