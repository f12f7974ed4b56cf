import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { featureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';
import { NEEDED_BY_PODS } from '#shared/contract/kubelet-config/feature-gates/gate-cost.ts';

const RESTART = 'RestartAllContainersOnContainerExits';
const USERS = 'UserNamespacesHostNetworkSupport';
const MOUNTS = 'VolumeBindMountOptions';

const podOf = (spec: object, name = 'a'): object => ({ metadata: { name, namespace: 'prod' }, spec });
const restartRules = (action: string) => [
  { action: 'Restart' },
  { action, exitCodes: { operator: 'In', values: [1] } },
];
const mounted = (...bindMountOptions: readonly string[]) => ({
  volumeMounts: [{ name: 'x' }, { name: 'y', bindMountOptions }],
});

/** What a pod is like; its spec; the features that it needs. */
const rows: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['an ordinary pod', podOf({ containers: [{ name: 'c' }] }), []],
  [
    'a container that restarts all',
    podOf({ containers: [{}, { restartPolicyRules: restartRules('RestartAllContainers') }] }),
    [RESTART],
  ],
  [
    'an init container that restarts all',
    podOf({ initContainers: [{ restartPolicyRules: restartRules('RestartAllContainers') }] }),
    [RESTART],
  ],
  ['a container that restarts itself', podOf({ containers: [{ restartPolicyRules: restartRules('Restart') }] }), []],
  ['its own users in the host’s network', podOf({ hostNetwork: true, hostUsers: false }), [USERS]],
  ['its own users', podOf({ hostUsers: false }), []],
  ['the host’s network', podOf({ hostNetwork: true, hostUsers: true }), []],
  ['the host’s network, as most have it', podOf({ hostNetwork: true }), []],
  ['a mount with options', podOf({ containers: [mounted('noexec')] }), [MOUNTS]],
  ['a mount with options of an init container', podOf({ initContainers: [mounted('noexec')] }), [MOUNTS]],
  ['a mount with options of a container for debugging', podOf({ ephemeralContainers: [mounted('noexec')] }), [MOUNTS]],
  ['a mount with no options', podOf({ containers: [mounted()] }), []],
  [
    'all of them',
    podOf({
      hostNetwork: true,
      hostUsers: false,
      containers: [{ ...mounted('ro'), restartPolicyRules: restartRules('RestartAllContainers') }],
    }),
    [...NEEDED_BY_PODS],
  ],
  ['a pod that nobody can read', null, []],
  ['lists that are none', podOf({ containers: 'x', initContainers: { restartPolicyRules: 1 } }), []],
];

describe('the features that pods need', () => {
  for (const [what, pod, features] of rows) {
    it(`are, of ${what}: ${features.join(', ') || 'none'}`, () =>
      assert.deepEqual([...featureNeeds([pod]).keys()], features));
  }

  it('are told with the first three pods and how many there are', () => {
    const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => podOf({ hostNetwork: true, hostUsers: false }, name));
    const all = featureNeeds([podOf({}), ...pods]);
    assert.deepEqual([...all], [[USERS, { names: ['prod/a', 'prod/b', 'prod/c'], count: 5 }]]);
  });
});
