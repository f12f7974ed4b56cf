import type { Amount, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { commit, nodeView, validPool } from '../fleet.ts';
import { FleetSimulation } from '../fleet-simulation.ts';

const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const STEP_MS = 20 * SECOND;
/** A commit of the world has this field at the number of its version; pods follow it only after a drain. */
const AFTER_DRAIN = [{}, { topologyManagerScope: 'pod' }, { topologyManagerScope: 'container' }] as const;

/**
 * What is the matter with a node. `drains`: its pods never leave; `dead`, `silent`, `going` (a machine that is about to be replaced) and
 * `virtual` before the commit, `dies` and `leaves` in its first trial; `vanishes`: dies in each trial of the newest config, and another machine like it takes
 * its place; `old`: its kubelet would refuse the new config.
 */
export type Trouble =
  | 'drains'
  | 'dead'
  | 'silent'
  | 'bad'
  | 'dies'
  | 'leaves'
  | 'going'
  | 'virtual'
  | 'old'
  | 'vanishes';

const OLD_VERSION = 'v1.21.0';

export interface LivingPool {
  readonly name: string;
  readonly spec: Partial<KubeletPoolSpec>;
  readonly nodes: number;
  /** The new config needs its nodes to be drained. */
  readonly needsDrain?: boolean;
  /** By the number of a node. */
  readonly troubles?: Readonly<Record<number, Trouble>>;
  /** Nodes are replaced when they are so old; their ages are spread evenly. */
  readonly lifetimeMs?: number;
  /** A node joins so often beside those that stay, and is removed when it has lived for an hour. */
  readonly joinsEveryMs?: number;
}

/** Pools whose kubelets, trials, drains and machines take their time. */
export class LivingWorld {
  readonly sim = new FleetSimulation();
  readonly began: number;
  /** Kubelet starts by node. */
  readonly starts = new Map<string, number>();
  steps = 0;
  private readonly pools: readonly LivingPool[];
  private readonly overall: Amount | null;
  private readonly troubles = new Map<string, Trouble>();
  private readonly upAt = new Map<string, { readonly config: string; readonly at: number }>();
  /** Machines that died in a trial and were removed. */
  removed = 0;
  private readonly gone = new Set<string>();
  private readonly vanishing = new Map<string, number>();
  private readonly bornAt = new Map<string, number>();
  private readonly guests = new Set<string>();
  private readonly versions = new Map<string, number>();
  private commits = 0;
  private added = 0;

  /** All pools have settled on the first version, and a commit brings the second. */
  constructor(pools: readonly LivingPool[], overall: Amount | null = null) {
    this.pools = pools;
    this.overall = overall;
    for (const pool of pools) {
      for (let number = 0; number < pool.nodes; number += 1) {
        this.add(pool, 48 * HOUR - number);
      }
    }
    this.sim.judge = (config, minors) =>
      Number(config.value['maxPods']) > 100 && minors.includes('1.21')
        ? [{ code: 'unknown-field', severity: 'error', file: 'kubelet.yaml', message: 'kubelet 1.21 does not know it' }]
        : [];
    this.commitAll(true);
    this.sim.rounds(4);
    this.sim.now += 20 * MINUTE;
    for (let round = 0; round < 40; round += 1) {
      for (const name of this.sim.fleet.nodes.keys()) this.sim.beat(name);
      this.sim.rounds(1);
    }
    for (const pool of pools) this.afflict(pool);
    for (const pool of pools) this.spreadAges(pool);
    for (const pool of pools) this.versions.set(pool.name, 1);
    this.commitAll(false);
    this.began = this.sim.now;
  }

  /** Another version of a pool is committed. */
  commit(name: string): void {
    this.versions.set(name, (this.versions.get(name) ?? 0) + 1);
    this.commitAll(false);
  }

  /**
   * Lets time pass until every node that can has the newest config behind it.
   *
   * @returns after how long; null where that was not within the limit
   */
  settlesWithin(ms: number): number | null {
    while (this.sim.now - this.began <= ms) {
      if (this.waiting().length === 0) return this.sim.now - this.began;
      this.step();
    }
    return null;
  }

  /** Lets so much time pass. */
  run(ms: number, look: () => void = () => undefined): void {
    for (const end = this.sim.now + ms; this.sim.now < end; look()) this.step();
  }

  /** Names of the nodes that have nothing the matter with them, and do not run the newest config for good. */
  waiting(): readonly string[] {
    return this.pools.flatMap(({ name, lifetimeMs, joinsEveryMs = lifetimeMs }) => {
      const wanted = this.payload(name).sha256;
      const { rollout } = this.sim.fleet.pools.get(name)?.status ?? {};
      if (joinsEveryMs !== undefined && (rollout?.sha256 !== wanted || rollout.finishedAt === undefined)) return [name];
      return this.nodesOf(name).flatMap((node) => {
        if (this.isExcused(node.name)) return [];
        return this.sim.fleet.kubeletNodes.get(node.name)?.status?.lastKnownGood?.sha256 === wanted ? [] : [node.name];
      });
    });
  }

  /** A node joins a pool that lives for an hour. */
  join(name: string): string {
    const guest = this.add(this.poolOf(name), 0);
    this.guests.add(guest);
    this.bornAt.set(guest, this.sim.now);
    return guest;
  }

  step(): void {
    const { sim } = this;
    this.steps += 1;
    sim.now += STEP_MS;
    for (const { name, joinsEveryMs = Infinity } of this.pools)
      if ((sim.now - this.began) % joinsEveryMs === 0) this.join(name);
    this.age();
    this.replace();
    for (const node of sim.fleet.nodes.values()) {
      if (!this.gone.has(node.name)) this.agent(node);
    }
    for (const { name, drain } of sim.fleet.nodes.values()) {
      if (drain === undefined) continue;
      if (this.troubles.get(name) !== 'drains') sim.drained(name);
      else sim.drains.set(name, { since: drain.at, drained: false, because: 'its budget allows no disruption' });
    }
    sim.reconcile();
  }

  /** Joined after the commit, or has something the matter with it. */
  private isExcused(name: string): boolean {
    return this.troubles.has(name) || (this.bornAt.get(name) ?? 0) > this.began;
  }

  private poolOf(name: string): LivingPool {
    return this.pools.find((each) => each.name === name) ?? { name, spec: {}, nodes: 0 };
  }

  /** Of its newest version, or of one before. */
  payload(name: string, version = this.versions.get(name) ?? 0): ReturnType<typeof validPool> {
    return this.version(this.poolOf(name), version);
  }

  private version({ name, spec, needsDrain }: LivingPool, version: number): ReturnType<typeof validPool> {
    const config = needsDrain === true ? AFTER_DRAIN[Math.min(version, 2)] : {};
    return validPool(name, 100 + version, spec, config);
  }

  private commitAll(isFirst: boolean): void {
    this.commits += 1;
    const oid = String(this.commits).padStart(40, '0');
    const all = this.pools.map((pool) => {
      const found = this.version(pool, this.versions.get(pool.name) ?? 0);
      const rollout = { ...found.spec.rollout, maxUnavailable: '100%', probation: 'full', soak: '0s' } as const;
      const { canary: _, steps: __, ...atOnce } = rollout;
      return isFirst ? { ...found, spec: { ...found.spec, rollout: atOnce } } : found;
    });
    const { repo } = commit(oid, ...all);
    const cluster = { ...DEFAULT_CLUSTER, maxUnavailable: isFirst ? null : this.overall, maxUnassign: '100%' };
    this.sim.inForce = { oid, repo: { ...repo, cluster } };
  }

  private add({ name, lifetimeMs }: LivingPool, age: number): string {
    const { sim } = this;
    const node = `n${String(this.added).padStart(3, '0')}`;
    this.added += 1;
    const createdAt = sim.now - age;
    this.bornAt.set(node, lifetimeMs === undefined ? 0 : createdAt);
    sim.addNode(nodeView(node, name, { createdAt, readySince: createdAt }));
    return node;
  }

  /** The n-th node of the pool by age gets what the n-th entry says. */
  private afflict({ name, troubles = {} }: LivingPool): void {
    for (const [number, node] of this.nodesOf(name).entries()) {
      const trouble = troubles[number];
      if (trouble === undefined) continue;
      this.troubles.set(node.name, trouble);
      if (trouble === 'dead' || trouble === 'silent') this.gone.add(node.name);
      if (trouble === 'virtual') this.gone.add(node.name);
      const labels = { ...node.labels, ...(trouble === 'virtual' && { 'eks.amazonaws.com/compute-type': 'fargate' }) };
      const ready = trouble !== 'dead' && trouble !== 'virtual';
      this.view(node.name, {
        labels,
        ...(ready ? {} : { ready, readySince: this.sim.now }),
        ...(trouble === 'going' && { leaving: 'Cluster API replaces its machine' }),
        ...(trouble === 'old' && { kubeletVersion: OLD_VERSION }),
      });
    }
  }

  private spreadAges({ name, lifetimeMs, nodes }: LivingPool): void {
    if (lifetimeMs === undefined) return;
    for (const [number, node] of this.nodesOf(name).entries()) {
      this.view(node.name, { createdAt: this.sim.now - lifetimeMs + (lifetimeMs * (number + 0.5)) / nodes });
    }
  }

  private nodesOf(pool: string): readonly NodeView[] {
    return [...this.sim.fleet.nodes.values()].filter(({ labels }) => labels['pool'] === pool);
  }

  /** Who has been down for long enough is replaced. */
  private replace(): void {
    for (const [name, at] of this.vanishing) {
      const pool = this.pools.find((each) => each.name === this.sim.fleet.nodes.get(name)?.labels['pool']);
      if (this.sim.now < at || pool === undefined) continue;
      this.vanishing.delete(name);
      this.sim.removeNode(name);
      this.removed += 1;
      this.troubles.set(this.add(pool, 0), 'vanishes');
    }
  }

  /** Machines that have lived for long enough are replaced. */
  private age(): void {
    for (const name of this.guests) {
      if (this.sim.now - (this.bornAt.get(name) ?? 0) < HOUR) continue;
      this.sim.removeNode(name);
      this.guests.delete(name);
    }
    for (const pool of this.pools) {
      const { lifetimeMs, name } = pool;
      if (lifetimeMs === undefined) continue;
      for (const node of this.nodesOf(name)) {
        if (this.sim.now - node.createdAt < lifetimeMs) continue;
        this.sim.removeNode(node.name);
        this.add(pool, 0);
      }
    }
  }

  private agent({ name, labels }: NodeView): void {
    const { sim } = this;
    const { spec, status, metadata } = sim.fleet.kubeletNodes.get(name) ?? { metadata: { name } };
    const isUnheard = spec !== undefined && (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
    if (isUnheard || status?.phase !== 'Trial') {
      const ran = status?.active?.sha256;
      sim.agentStep(name);
      const now = sim.fleet.kubeletNodes.get(name)?.status;
      if (now?.active?.sha256 !== ran) this.starts.set(name, (this.starts.get(name) ?? 0) + 1);
      if (now?.phase === 'Trial') this.upAt.set(name, { config: now.active?.sha256 ?? '', at: sim.now });
      return;
    }
    const healthyMs = sim.now - (this.upAt.get(name)?.at ?? sim.now);
    const trouble = this.troubles.get(name);
    const isNewest = status.active?.sha256 === this.payload(labels['pool'] ?? '').sha256;
    if (isMortal(trouble) && isNewest && healthyMs >= MINUTE) return this.lose(name, trouble);
    const isBad = trouble === 'bad' && healthyMs >= MINUTE;
    if (isBad) sim.deadly.add(status.active?.sha256 ?? '');
    if (isBad || healthyMs >= (parseDuration(spec?.trial?.duration ?? '') ?? 0)) sim.agentStep(name);
    else sim.healthy(name, healthyMs / SECOND);
    sim.deadly.clear();
  }

  private lose(name: string, how: 'dies' | 'leaves' | 'vanishes'): void {
    this.gone.add(name);
    if (how === 'vanishes') this.vanishing.set(name, this.sim.now + 5 * MINUTE);
    this.view(name, { ready: false, readySince: this.sim.now });
    if (how === 'leaves') this.view(name, { leaving: 'it is about to be removed' });
  }

  private view(name: string, view: Partial<NodeView>): void {
    const node = this.sim.fleet.nodes.get(name);
    if (node !== undefined) this.sim.addNode({ ...node, ...view });
  }
}

const isMortal = (trouble: Trouble | undefined): trouble is 'dies' | 'leaves' | 'vanishes' =>
  trouble === 'dies' || trouble === 'leaves' || trouble === 'vanishes';
