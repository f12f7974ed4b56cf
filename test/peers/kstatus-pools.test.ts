import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type CommitInForce, type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
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
import { ARGO, ARGO_LUA, argoHealthOf } from './support/argo-lua.ts';
import { FLUX_CEL, fluxHealthOf } from './support/flux-cel.ts';
import { KSTATUS, type Kstatus, kstatusOf } from './support/kstatus.ts';

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
  const rows: readonly (readonly [string, Kstatus, () => KubeletPool])[] = [
    ['every node runs its config', 'Current', () => afterPass(commit(COMMIT_B, old), fleetWith())],
    [
      'no node matches',
      'Current',
      () => afterPass(commit(COMMIT_B, validPool('workers', 110)), fleetWith([], present, [])),
    ],
    [
      'somebody changed a file on a node, and its agent puts it back',
      'Current',
      () =>
        afterPass(commit(COMMIT_B, old), fleetWith([settledNode(a, old, { phase: 'Drifted' }), ...settled.slice(1)])),
    ],
    ['a new config is about to go out', 'InProgress', () => afterPass(commit(COMMIT_B, next), fleetWith())],
    [
      'a node is on trial',
      'InProgress',
      () =>
        afterPass(commit(COMMIT_B, next), fleetWith([assignedNode(a, next, { phase: 'Trial' }), ...settled.slice(1)])),
    ],
    [
      'a node is soaking',
      'InProgress',
      () =>
        afterPass(commit(COMMIT_B, rolling({ soak: '2h' })), fleetWith([settledNode(a, next), ...settled.slice(1)])),
    ],
    [
      'no node may change',
      'InProgress',
      () => afterPass(commit(COMMIT_B, rolling({ maxUnavailable: 0 })), fleetWith()),
    ],
    [
      'an agent is silent',
      'InProgress',
      () =>
        afterPass(
          commit(COMMIT_B, next),
          fleetWith(
            settled.map((node) => ({ ...node, status: { ...node.status, heartbeat: '2026-01-01T00:00:00Z' } })),
          ),
        ),
    ],
    [
      'somebody suspended it in the middle of a rollout',
      'InProgress',
      () =>
        afterPass(commit(COMMIT_B, next), fleetWith(settled, edited({ annotations: { [SUSPEND_ANNOTATION]: 'x' } }))),
    ],
    [
      'its nodes go back to their local config, because it left git',
      'InProgress',
      () => afterPass(commit(COMMIT_B, validPool('other', 1)), fleetWith()),
    ],
    [
      'a node joined that nobody told anything',
      'InProgress',
      () => afterPass(commit(COMMIT_B, old), fleetWith([idleNode(a), ...settled.slice(1)])),
    ],
    [
      'the reconciler has not seen its newest spec',
      'InProgress',
      () => ({ ...afterPass(commit(COMMIT_B, old), fleetWith()), metadata: { ...present.metadata, generation: 2 } }),
    ],
    [
      'a node failed',
      'Failed',
      () => afterPass(commit(COMMIT_B, next), fleetWith([failedNode(a, next), ...settled.slice(1)])),
    ],
    [
      'a node failed, and others go back',
      'Failed',
      () =>
        afterPass(
          commit(COMMIT_B, rolling({ onFailure: { threshold: 1, action: 'revert' } })),
          fleetWith([failedNode(a, next), settledNode(b, next), settledNode(c, old)]),
        ),
    ],
    [
      'the commit in force is wrong about it, and every node runs what it had',
      'Failed',
      () => afterPass(commit(COMMIT_B, invalidPool('workers')), fleetWith()),
    ],
    [
      'the commit in force is wrong about it, and a node is on trial still',
      'Failed',
      () =>
        afterPass(
          commit(COMMIT_B, invalidPool('workers')),
          fleetWith([assignedNode(a, old, { phase: 'Trial' }), ...settled.slice(1)]),
        ),
    ],
    [
      'the commit in force is wrong about it, and it has no node',
      'Failed',
      () => afterPass(commit(COMMIT_B, invalidPool('workers')), fleetWith([], present, [])),
    ],
    [
      'the newest commit is refused as a whole',
      'Failed',
      () => afterPass(commit(COMMIT_B, old), fleetWith(), { refused: 'it takes the config of 3 of 3 nodes away' }),
    ],
    [
      'the newest commit is refused while the one before goes out',
      'Failed',
      () => afterPass(commit(COMMIT_B, next), fleetWith(), { refused: 'nobody trusts its signature' }),
    ],
    [
      'it is being deleted',
      'Terminating',
      () => {
        const pool = afterPass(commit(COMMIT_B, old), fleetWith());
        return { ...pool, metadata: { ...pool.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } };
      },
    ],
  ];
  for (const [state, expected, pool] of rows) {
    it(`${expected} where ${state}`, () => {
      const object = pool();
      assert.equal(kstatusOf(object), expected, JSON.stringify(object.status));
    });
    const health = state.startsWith('somebody suspended') ? 'Suspended' : ARGO[expected];
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
