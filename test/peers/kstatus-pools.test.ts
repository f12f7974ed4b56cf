import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type CommitInForce, type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import type { KubeletPool, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../support/fleet.ts';
import { ARGO, ARGO_LUA, type ArgoHealth, argoHealthOf } from './support/argo-lua.ts';
import { FLUX_CEL, fluxHealthOf } from './support/flux-cel.ts';
import { KSTATUS, type Kstatus, kstatusOf } from './support/kstatus.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const old = validPool('workers', 110);
const next = validPool('workers', 120);
const rolling = (rollout: Partial<RolloutSpec>) =>
  validPool('workers', 120, { rollout: { ...poolSpec().rollout, ...rollout } });
const [a, b, c] = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers')) as [
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
  ReturnType<typeof nodeView>,
];
const settled = [a, b, c].map((node) => settledNode(node, old));
const present = poolInCluster(old);

const fleetWith = (kubeletNodes = settled, pool = present, nodes = [a, b, c]): Fleet =>
  fleetOf({ nodes, kubeletNodes, configSources: [configSource(old), configSource(next)], pools: [pool] });

/** The pool as the API server has it after a pass. */
function afterPass(inForce: CommitInForce, fleet: Fleet, wanted: Partial<Desired> = {}): KubeletPool {
  const desired = { ...desiredState(inForce, fleet, () => []), ...wanted };
  const status = plan(desired, fleet, SETTINGS, NOW).pools.get('workers');
  assert.ok(status !== undefined);
  return { ...asServed(fleet.pools.get('workers') ?? present), status };
}

const asServed = (pool: KubeletPool): KubeletPool => ({
  ...pool,
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletPool',
});

const edited = (metadata: Partial<KubeletPool['metadata']>): KubeletPool => ({
  ...present,
  metadata: { ...present.metadata, ...metadata },
});

describeOrSkip('kstatus of a KubeletPool', { skip: KSTATUS.skip }, () => {
  const others = settled.slice(1);
  const silent = settled.map((node) => ({ ...node, status: { ...node.status, heartbeat: '2026-01-01T00:00:00Z' } }));
  const reverting = rolling({ onFailure: { threshold: 1, action: 'revert' } });
  const suspended = edited({ annotations: { [SUSPEND_ANNOTATION]: 'x' } });
  const unseen = { ...present.metadata, generation: 2 };
  const deleted = { ...present.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' };
  const invalid = invalidPool('workers');
  const pass =
    (pool: Parameters<typeof commit>[1], fleet = fleetWith(), wanted: Partial<Desired> = {}) =>
    () =>
      afterPass(commit(COMMIT_B, pool), fleet, wanted);
  const passOver = (pool: Parameters<typeof commit>[1], ...nodes: typeof settled) => pass(pool, fleetWith(nodes));

  const until = (at: number): KubeletPool =>
    edited({ annotations: { [SUSPEND_ANNOTATION]: suspendedUntil(at, 'storage is moved') } });
  const paused = rolling({ canary: { nodes: 1, soak: '0s', pause: true } });

  /** With the health that Argo CD shows where it differs from kstatus, which has no status for waiting for a person. */
  const rows: readonly (readonly [string, Kstatus, () => KubeletPool, ArgoHealth['status']?])[] = [
    ['every node runs its config', 'Current', pass(old)],
    ['no node matches', 'Current', pass(old, fleetWith([], present, []))],
    [
      'somebody changed a file on a node, and its agent puts it back',
      'Current',
      passOver(old, settledNode(a, old, { phase: 'Drifted' }), ...others),
    ],
    ['a new config is about to go out', 'InProgress', pass(next)],
    ['a node is on trial', 'InProgress', passOver(next, assignedNode(a, next, { phase: 'Trial' }), ...others)],
    ['a node is soaking', 'InProgress', passOver(rolling({ soak: '2h' }), settledNode(a, next), ...others)],
    ['no node may change', 'InProgress', pass(rolling({ maxUnavailable: 0 }))],
    ['an agent is silent', 'InProgress', passOver(next, ...silent)],
    [
      'somebody suspended it in the middle of a rollout',
      'InProgress',
      pass(next, fleetWith(settled, suspended)),
      'Suspended',
    ],
    ['it is suspended for an hour more', 'InProgress', pass(next, fleetWith(settled, until(NOW + HOUR))), 'Suspended'],
    [
      'its suspension is over, which leaves the annotation',
      'InProgress',
      pass(next, fleetWith(settled, until(NOW - HOUR))),
    ],
    ['pool.yaml suspends it', 'InProgress', pass(validPool('workers', 120, { suspend: true })), 'Suspended'],
    [
      'the file of the cluster suspends it',
      'InProgress',
      pass(next, fleetWith(), {
        policy: { ...desiredState(commit(COMMIT_B, next), fleetWith(), () => []).policy, suspend: true },
      }),
      'Suspended',
    ],
    ['a wave waits for an approval', 'InProgress', passOver(paused, settledNode(a, paused), ...others), 'Suspended'],
    ['its nodes go back to their local config, because it left git', 'InProgress', pass(validPool('other', 1))],
    ['a node joined that nobody told anything', 'InProgress', passOver(old, idleNode(a), ...others)],
    ['the reconciler has not seen its newest spec', 'InProgress', () => ({ ...pass(old)(), metadata: unseen })],
    ['a node failed', 'Failed', passOver(next, failedNode(a, next), ...others)],
    [
      'a node failed, and others go back',
      'Failed',
      passOver(reverting, failedNode(a, next), settledNode(b, next), settledNode(c, old)),
    ],
    ['the commit in force is wrong about it, and every node runs what it had', 'Failed', pass(invalid)],
    [
      'the commit in force is wrong about it, and a node is on trial still',
      'Failed',
      passOver(invalid, assignedNode(a, old, { phase: 'Trial' }), ...others),
    ],
    ['the commit in force is wrong about it, and it has no node', 'Failed', pass(invalid, fleetWith([], present, []))],
    [
      'the newest commit is refused as a whole',
      'Failed',
      pass(old, fleetWith(), { refused: 'it takes the config of 3 of 3 nodes away' }),
    ],
    [
      'the newest commit is refused while the one before goes out',
      'Failed',
      pass(next, fleetWith(), { refused: 'nobody trusts its signature' }),
    ],
    ['it is being deleted', 'Terminating', () => ({ ...pass(old)(), metadata: deleted })],
  ];
  for (const [state, expected, pool, health = ARGO[expected]] of rows) {
    it(`${expected} where ${state}`, () => {
      const object = pool();
      assert.equal(kstatusOf(object), expected, JSON.stringify(object.status));
    });
    if (health === undefined) continue;
    it(`${expected} by Flux’s expressions where ${state}`, { skip: FLUX_CEL.skip }, () =>
      assert.equal(fluxHealthOf(pool()), expected),
    );
    it(`${health} for Argo CD where ${state}`, { skip: ARGO_LUA.skip }, () => {
      const object = pool();
      assert.equal(argoHealthOf(object).status, health, JSON.stringify(object.status));
    });
  }

  // The API server keeps no status of an object that is made: the next pass writes it. Nothing tells kstatus that one is to come.
  it('Current for the moment between the making of a pool and its first status', () => {
    const { status: _none, ...fresh } = asServed(present);
    assert.equal(kstatusOf(fresh), 'Current');
  });
});
