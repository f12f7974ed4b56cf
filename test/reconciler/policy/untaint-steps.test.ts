import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { MemberDecision } from '#reconciler/policy/rollout/decide-group.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { untaintSteps } from '#reconciler/policy/untaint-steps.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_B,
  desiredPool,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  settledOn,
  validPool,
} from '../../support/fleet.ts';

const [WORKERS, OTHERS] = [validPool('workers', 110), validPool('others', 120)];

describe('the taint of a new node', () => {
  const pool = desiredPool(WORKERS);
  const bare: KubeletPoolStatus = {};
  const settled: KubeletPoolStatus = settledOn(OTHERS);
  const rows: readonly (readonly [string, Partial<Member>, KubeletPoolStatus, boolean])[] = [
    ['goes when its config is proven', { lifecycle: LIFECYCLE.settled }, bare, true],
    ['goes while its config soaks', { lifecycle: LIFECYCLE.soaking }, bare, true],
    ['stays while it tries its config', { lifecycle: LIFECYCLE.changing }, bare, false],
    ['goes where it runs what its pool settled on', { lifecycle: LIFECYCLE.outdated }, settled, true],
    [
      'stays where it took the config back, though it runs what its pool settled on',
      { lifecycle: LIFECYCLE.failed },
      settled,
      false,
    ],
    ['stays where its pool has no status yet', { lifecycle: LIFECYCLE.outdated }, bare, false],
  ];
  for (const [name, is, status, goes] of rows) {
    it(name, () => {
      const node = nodeView('a', 'workers', { gated: true });
      const member = { ...memberOf(node, settledNode(node, OTHERS), targetOf(pool), 0, NOW), ...is };
      const decision: MemberDecision = {
        member,
        aimed: { member, targetKind: 'config', configName: null },
        verdict: { verdict: 'rest' },
      };
      const fleet = fleetOf({ nodes: [node], pools: [poolInCluster(WORKERS, status)] });
      const group = { pool, members: [member] };
      const proof = poolProof(group, { status, isOwn: true }, NOW);
      const groups = [{ group: { ...group, proof }, decisions: [decision] }];
      const steps = untaintSteps(
        groups,
        desiredState(commit(COMMIT_B, WORKERS), fleet, () => []),
        fleet,
        NOW,
      );
      assert.equal(steps.length, goes ? 1 : 0);
    });
  }
});
