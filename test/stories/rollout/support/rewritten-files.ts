import assert from 'node:assert/strict';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { ClusterConfig, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { commit, COMMIT_A, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

export const MINUTE = 60_000;
export const [BASE, OTHER_BASE, DEADLY_BASE] = ['b1', 'b2', 'b666'];
export const EIGHT = Array.from({ length: 8 }, (_, index) => `n${index + 1}`);
export const NIGHT = { allow: [{ cron: '0 3 * * *', duration: '30m' }], deny: [], overrun: 'stop' } as const;

export const poolOf = (
  name: string,
  maxPods: number,
  rollout: Partial<RolloutSpec>,
  spec: Partial<KubeletPoolSpec> = {},
) => validPool(name, maxPods, { rollout: { ...poolSpec().rollout, ...rollout }, ...spec });

/** A cluster in which every node runs its pool's payload and has proved it, before anybody rewrites a file. */
export class Rewritten {
  readonly sim = new FleetSimulation();
  /** At most so many nodes were granted a restart that had not ended, at any moment. */
  most = 0;

  constructor(nodes: readonly string[], rollout: Partial<RolloutSpec> = {}, spec: Partial<KubeletPoolSpec> = {}) {
    for (const name of nodes) this.sim.addNode(nodeView(name, 'workers'));
    this.settle(poolOf('workers', 100, { maxUnavailable: 8 }, spec));
    this.commit(poolOf('workers', 100, rollout, spec));
  }

  /** Lets everything come to rest, and begins to count restarts. */
  settle(...pools: readonly ValidPool[]): void {
    this.commit(...pools);
    this.sim.rounds(6);
    this.sim.restarts.clear();
  }

  /** The config source is made, and nodes are told. */
  commit(...pools: readonly ValidPool[]): void {
    this.sim.inForce = commit(COMMIT_A, ...pools);
    this.sim.reconcile();
    this.sim.reconcile();
  }

  withCluster(cluster: Partial<ClusterConfig>): void {
    const { inForce } = this.sim;
    assert.ok(inForce !== null);
    this.sim.inForce = { ...inForce, repo: { ...inForce.repo, cluster: { ...DEFAULT_CLUSTER, ...cluster } } };
  }

  rewrite(base: string, nodes: Iterable<string> = this.sim.fleet.nodes.keys()): void {
    for (const name of nodes) this.sim.rewriteBase(name, base);
  }

  rounds(count: number): void {
    for (let round = 0; round < count; round += 1) {
      this.sim.reconcile();
      this.most = Math.max(this.most, this.atTurn().length);
      this.sim.agentsStep();
      this.most = Math.max(this.most, this.atTurn().length);
    }
  }

  /** By what is written alone: who was granted a restart that has not ended. */
  atTurn(): readonly string[] {
    return [...this.sim.fleet.kubeletNodes].flatMap(([name, { spec, status }]) => {
      const isGranted = spec?.turn !== undefined && spec.turn.seen === status?.awaitsTurn?.seen;
      return isGranted || status?.phase === 'Trial' ? [name] : [];
    });
  }

  restarts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.sim.restarts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  node(name: string): KubeletNode {
    const found = this.sim.fleet.kubeletNodes.get(name);
    assert.ok(found !== undefined);
    return found;
  }

  report(name: string, status: KubeletNodeStatus): void {
    this.sim.report(name, { ...this.node(name).status, ...status });
  }

  holds(): readonly string[] {
    return (this.sim.fleet.pools.get('workers')?.status?.holds ?? []).map(({ reason, nodes }) => `${reason} ${nodes}`);
  }
}
