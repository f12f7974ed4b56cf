import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asNeeded } from '#reconciler/policy/disruption/as-needed.ts';
import type { Disruption } from '#reconciler/policy/disruption/disruption-of.ts';
import { featureNeeds } from '#reconciler/policy/room/feature-needs.ts';

const RESTART = 'RestartAllContainersOnContainerExits';
const USERS = 'UserNamespacesHostNetworkSupport';
const POD = { metadata: { name: 'a', namespace: 'prod' }, spec: { hostNetwork: true, hostUsers: false } };

describe('a drain for pods that may need a feature', () => {
  const drain: Disruption = { class: 'drain', fields: ['featureGates.AllAlpha'], features: [RESTART, USERS] };
  const needs = featureNeeds([POD]);

  it('stays one where nobody may look at the pods, and where it is for something else as well', () => {
    assert.equal(asNeeded(drain, [], undefined), drain);
    const other: Disruption = { class: 'drain', fields: ['podLogsDir'] };
    assert.equal(asNeeded(other, [USERS], needs), other);
  });

  it('is a restart where none needs one', () => {
    assert.deepEqual(asNeeded({ ...drain, podLimit: 5 }, [USERS], new Map()), {
      class: 'restart',
      fields: [],
      podLimit: 5,
    });
    assert.deepEqual(asNeeded({ ...drain, features: [RESTART] }, [RESTART], needs), { class: 'restart', fields: [] });
  });

  it('is a restart where the Node declares other features: its kubelet does not admit by this one', () => {
    assert.deepEqual(asNeeded(drain, [RESTART], needs), { class: 'restart', fields: [] });
  });

  it('names the pods where some need one that the Node declares, or that says nothing of features', () => {
    const named = { ...drain, fields: [`featureGates.${USERS} (needed by prod/a)`] };
    assert.deepEqual(asNeeded(drain, [USERS], needs), named);
    assert.deepEqual(asNeeded(drain, undefined, needs), named);
    const many = new Map([[RESTART, { names: ['x/a', 'x/b', 'x/c'], count: 5 }]] as const);
    assert.deepEqual(asNeeded(drain, [RESTART], many).fields, [
      `featureGates.${RESTART} (needed by x/a, x/b, x/c and 2 more)`,
    ]);
  });
});
