import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { budgetsOf } from '#reconciler/policy/rollout/max-unavailable.ts';
import { onTrialIn } from '#reconciler/policy/rollout/on-trial.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  failedNode,
  fleetOf,
  idleNode,
  NOW,
  poolInCluster,
  settledNode,
} from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import {
  classOf,
  given,
  groupOf,
  HUGE,
  LARGE,
  computedPool,
  poolFor,
  provenBy,
  SMALL,
} from '../../support/rollout/separate-classes.ts';
import { shaFor, sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

describe('how many may hear of what is not proven, where values are computed,', () => {
  const others = ['n1', 'n2'].map((name) => sizedNode(name, 16, 62.3));

  /** Whether one more is held, while two others are as given. */
  function held(is: (node: NodeView) => KubeletNode, before?: KubeletPoolStatus): boolean {
    const rows = [LARGE, ...others].map((view) => ({ view, is: view === LARGE ? idleNode(view) : is(view) }));
    const group = groupOf(rows, before);
    const fleet = fleetOf({
      nodes: [LARGE, ...others],
      kubeletNodes: group.members.flatMap(({ kubeletNode }) => kubeletNode ?? []),
    });
    const [member] = group.members;
    assert.ok(member !== undefined);
    return budgetsOf([group], [], fleet, [], NOW).expose(group, member) !== null;
  }

  it('counts those that were told the config of a class and have not proven it, and nobody else', () => {
    const told = (node: NodeView) => assignedNode(node, given(node));
    assert.equal(held(told), true);
    assert.equal(
      held((node) => settledNode(node, given(node))),
      false,
    );
    assert.equal(
      held((node) => ({ ...idleNode(node), spec: { pool: computedPool().name } })),
      false,
    );
    // Who proved another one, and who does no more than end its trial.
    const other = (node: NodeView) => ({ ...given(node), sha256: 'f'.repeat(64) });
    assert.equal(
      held((node) => settledNode(node, other(node))),
      false,
    );
    assert.equal(
      held((node) => ({ ...told(node), spec: { ...told(node).spec, apply: 'replace' } })),
      true,
    );
    assert.equal(
      held((node) => assignedNode(node, other(node))),
      true,
    );
    assert.equal(held(told, provenBy(classOf(LARGE))), false);
    const { proof = writeProof([]) } = provenBy(classOf(LARGE));
    const replaced = { ...proof, payloads: proof.payloads.map((sha256) => `replace:${sha256}`) };
    assert.equal(held(told, { proof: replaced }), true);
    assert.equal(held(told, provenBy(classOf(HUGE))), true);
    assert.equal(held(told, provenBy(classOf(HUGE), classOf(LARGE))), false);
  });

  it('is not bounded by who took back what the pool settled on for its class', () => {
    const rows = [LARGE, HUGE].map((view) => ({ view, is: failedNode(view, given(view)) }));
    const failedWith = (before: KubeletPoolStatus): readonly string[] | undefined => {
      const group = groupOf(rows, before);
      const kubeletNodes = group.members.flatMap(({ kubeletNode }) => kubeletNode ?? []);
      const fleet = fleetOf({ nodes: [LARGE, HUGE], kubeletNodes });
      return onTrialIn([group], fleet, NOW).get(group)?.failed;
    };
    assert.deepEqual(failedWith(provenBy(classOf(LARGE))), [HUGE.name]);
    assert.deepEqual(failedWith(provenBy(classOf(HUGE))), [LARGE.name]);
  });

  it('counts who left the pool by its labels, also where nobody else is of its class', () => {
    const held = (is: KubeletNode, left = HUGE, isRead = true): boolean => {
      const found = groupOf([
        { view: LARGE, is: idleNode(LARGE) },
        { view: left, is, leaves: true },
      ]);
      const { inGit: _, ...unread } = poolFor([LARGE]);
      const group = isRead ? found : { ...found, pool: unread };
      const kubeletNodes = group.members.flatMap(({ kubeletNode }) => kubeletNode ?? []);
      const [member] = group.members;
      assert.ok(member !== undefined);
      const fleet = fleetOf({ nodes: [LARGE, left], kubeletNodes, pools: [poolInCluster(computedPool())] });
      return budgetsOf([group], [], fleet, [], NOW).expose(group, member) !== null;
    };
    const told = assignedNode(HUGE, given(HUGE));
    const { status: _, ...silent } = told;
    const other = { ...given(HUGE), sha256: 'f'.repeat(64) };
    assert.equal(held(told), true);
    assert.equal(held(silent), true);
    assert.equal(held(told, HUGE, false), false, 'nobody knows what its class was given');
    assert.equal(held(settledNode(HUGE, given(HUGE))), false);
    assert.equal(held(assignedNode(HUGE, other)), false);
    assert.equal(held(assignedNode(SMALL, other), SMALL), false);
  });

  it('does not hold who was told what another class gets: it would wait for itself', () => {
    const group = groupOf([
      { view: LARGE, is: assignedNode(LARGE, given(HUGE)) },
      { view: HUGE, is: idleNode(HUGE) },
    ]);
    const kubeletNodes = group.members.flatMap(({ kubeletNode }) => kubeletNode ?? []);
    const fleet = fleetOf({ nodes: [LARGE, HUGE], kubeletNodes, pools: [poolInCluster(computedPool())] });
    const budgets = budgetsOf([group], [], fleet, [], NOW);
    assert.deepEqual(
      group.members.map((member) => budgets.expose(group, member) === null),
      [true, false],
    );
  });

  it('begins with the canaries of the classes that have something to try', () => {
    const rollout = '{maxUnavailable: 20, maxOnTrial: 20, canary: {nodes: 1, perClass: true}}';
    const reserving = (share: string): ValidPool =>
      sizedPool(
        `computed: {systemReserved: {memory: 'memory > quantity("200Gi") ? memory * ${share} : memory * 0.05'}}\n`,
        rollout,
      );
    const fleet = new FleetSimulation();
    for (const gibibytes of [16, 20, 24, 28, 32, 40, 48]) {
      fleet.addNode(sizedNode(`small-${gibibytes}`, 4, gibibytes));
    }
    const huge = Array.from({ length: 10 }, (_, index) => sizedNode(`huge-${index}`, 64, 256));
    for (const node of huge) fleet.addNode(node);
    fleet.inForce = commit(COMMIT_A, reserving('0.05'));
    fleet.rounds(40);
    assert.equal(fleet.fleet.pools.get('x')?.status?.phase, 'Settled');
    const next = reserving('0.06');
    fleet.inForce = commit(COMMIT_B, next);
    const told = (): number => fleet.exposed.get(shaFor(next, HUGE))?.size ?? 0;
    const found = Array.from({ length: 3 }, () => {
      for (let pass = 0; pass < 4; pass += 1) fleet.reconcile();
      const now = told();
      fleet.agentsStep();
      fleet.agentsStep();
      return now;
    });
    assert.deepEqual(found, [1, 3, 7], 'one, and two and four more');
  });
});
