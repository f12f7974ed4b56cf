import type { NodeView } from '#reconciler/policy/fleet.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import type { Plan } from '#reconciler/policy/plan.ts';
import { RELEASE_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit } from '../fleet.ts';
import { FleetSimulation } from '../fleet-simulation.ts';
import { type Kind, kindOf, KINDS, machine, tierOf, TIER, type Version, versionOf } from './machine-pools.ts';
import { ProofLedger } from './proof-ledger.ts';
import { checkPass } from './proof-laws.ts';
import { type Happening, type Setting, TABLES, type ToNode } from './world-events.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const POOL_NAMES = ['blue', 'green', 'red'] as const;
/** In no pool. */
export const NOBODY = 'nobody';

/** No kubelet survives it. */
const DEADLY = 7;
/** The kubelets of one kind of machine do not survive it. */
const DEADLY_FOR_ONE = 6;

/** All nodes at once, after one of each class. */
export const AT_ONCE: RolloutSpec = {
  maxUnavailable: '100%',
  probation: 'full',
  soak: '0s',
  onFailure: { threshold: 1, action: 'halt' },
};

/** Several pools and kinds of machines in one cluster; time, agents, people and machines move, and the reconciler has its turn after each event. */
export class MovingWorld {
  readonly sim = new FleetSimulation();
  readonly ledger = new ProofLedger();
  readonly setting: Setting;
  readonly versions = new Map<string, Version>();
  private readonly tables = new Map<string, number>();
  /** Numbers by the bytes that they stand for. */
  private readonly numbers = new Map<string, number>();
  private readonly silent = new Set<string>();
  private joined = 0;
  private commits = 0;
  private rounds = 0;
  passes = 0;

  constructor(setting: Setting) {
    this.setting = setting;
    for (const [index, { pool, kind }] of setting.nodes.entries()) {
      this.sim.addNode(machine(`n${index}`, kind, this.poolName(pool)));
    }
    for (const index of setting.pools.keys()) this.commit(index, 0, setting.settled ? AT_ONCE : undefined);
    this.look();
    for (let round = 0; setting.settled && round < 12; round += 1)
      this.happen({ event: 'time', minutes: 5, who: 'all' });
    if (setting.settled) for (const index of setting.pools.keys()) this.commit(index, 0);
  }

  poolName(index: number): string {
    return POOL_NAMES[index % this.setting.pools.length] ?? 'blue';
  }

  /** Something happens, and the reconciler has its turn. @throws AssertionError that names the law */
  happen(event: Happening): Plan {
    this.apply(event);
    this.look();
    const before = this.sim.fleet;
    const planned = this.sim.reconcile();
    this.passes += 1;
    checkPass(this.ledger, before, this.sim.fleet, planned.steps, this.sim.now);
    return planned;
  }

  private look(): void {
    this.ledger.look(this.sim.fleet, this.sim.now);
  }

  /** People and machines leave everything alone, and all is well, for so long. */
  calm(hours: number): void {
    this.silent.clear();
    for (const name of this.sim.fleet.nodes.keys()) this.view(name, wellSince(this.sim.now));
    for (const index of this.setting.pools.keys()) this.apply({ event: 'resume', pool: index });
    for (let minutes = 0; minutes < hours * 60; minutes += 10) this.happen({ event: 'time', minutes: 10, who: 'all' });
  }

  commit(index: number, table: number, rollout = this.setting.pools[index]?.rollout): void {
    const spec = this.setting.pools[index];
    if (spec === undefined || rollout === undefined) return;
    const name = this.poolName(index);
    const version = versionOf(name, TABLES[table] ?? [1, 2, 3, 4], spec.isComputed, rollout);
    for (const [kind, sha256] of version.bytes.entries()) this.numbers.set(sha256, version.values[kind] ?? 0);
    this.versions.set(name, version);
    this.tables.set(name, table);
    this.ledger.begin(name, version);
    this.commits += 1;
    const oid = String(this.commits).padStart(40, '0');
    const { repo } = commit(oid, ...[...this.versions.values()].map(({ pool }) => pool));
    this.sim.inForce = { oid, repo: { ...repo, cluster: { ...DEFAULT_CLUSTER, maxUnassign: '100%' } } };
  }

  private apply(event: Happening): void {
    const { sim } = this;
    switch (event.event) {
      case 'time':
        sim.now += event.minutes * MINUTE;
        this.look();
        this.rounds += 1;
        for (const name of sim.fleet.nodes.keys()) this.agent(name, event.who);
        return;
      case 'commit':
        return this.commit(event.pool % this.setting.pools.length, event.table);
      case 'cordon':
      case 'uncordon':
      case 'ready':
      case 'not-ready':
      case 'silence':
      case 'speak':
      case 'leave':
        return this.toNode(event.event, this.name(event.node));
      case 'join':
        return this.join(event.pool, event.kind);
      case 'relabel':
        return this.view(this.name(event.node), ({ labels }) => ({
          labels: { ...labels, pool: event.pool === null ? NOBODY : this.poolName(event.pool) },
        }));
      case 'reclass':
        return this.view(this.name(event.node), ({ labels }) => ({
          labels: { ...labels, [TIER]: tierOf(event.kind) },
        }));
      case 'blip':
        return this.blip(event.pool, event.what);
      case 'takeover':
        return sim.restart(event.hours * HOUR);
      case 'clock':
        sim.own = event.hours * HOUR;
        return;
      case 'forget':
        return this.write(this.poolName(event.pool), () => undefined);
      case 'forge':
        return this.forge(event.pool, event.table, event.what);
      case 'suspend':
        return sim.annotatePool(this.poolName(event.pool), { [SUSPEND_ANNOTATION]: 'a look at it' });
      case 'resume':
        return sim.annotatePool(this.poolName(event.pool), { [SUSPEND_ANNOTATION]: undefined });
      case 'release': {
        const name = this.poolName(event.pool);
        const halt = sim.fleet.pools.get(name)?.status?.halt;
        if (halt !== undefined) this.ledger.release(name);
        return sim.annotatePool(name, halt === undefined ? {} : { [RELEASE_ANNOTATION]: releaseValue(halt) });
      }
    }
  }

  /** Somebody writes the status that the pool has in another cluster, where this version has come through all of its waves. */
  private forge(index: number, table: number | null, what: keyof typeof FORGERIES): void {
    const name = this.poolName(index);
    const found = provenElsewhere(this.setting, index % this.setting.pools.length, table ?? this.tables.get(name) ?? 0);
    const pool = this.ledger.pools.get(name);
    this.write(name, (before) => {
      const newest = before.rollout?.newest;
      const isOther = found.rollout?.sha256 !== pool?.version.id || newest === undefined;
      if (pool !== undefined && isOther && (what === 'rollout' || what === 'all')) pool.newest = undefined;
      const { newest: _, ...rollout } = found.rollout ?? { sha256: '', configName: '', startedAt: '', waves: [] };
      const forged = { ...found, rollout: { ...rollout, ...(newest === undefined ? {} : { newest }) } };
      return FORGERIES[what](before, forged);
    });
  }

  /** Somebody else writes the status of a pool. */
  write(name: string, how: (status: KubeletPoolStatus) => KubeletPoolStatus | undefined): void {
    const pool = this.sim.fleet.pools.get(name);
    if (pool === undefined) return;
    const { status: before = {}, ...rest } = pool;
    const status = how(before);
    const written: KubeletPool = status === undefined ? rest : { ...rest, status };
    if (status === undefined) this.ledger.forget(name);
    this.sim.fleet = { ...this.sim.fleet, pools: new Map([...this.sim.fleet.pools, [name, written]]) };
  }

  private toNode(what: ToNode, name: string): void {
    const { sim } = this;
    switch (what) {
      case 'cordon':
      case 'uncordon':
        return this.view(name, () => ({ cordoned: what === 'cordon' }));
      case 'ready':
        return this.view(name, wellSince(sim.now));
      case 'not-ready':
        return this.view(name, ({ ready, readySince }) => ({ ready: false, readySince: ready ? sim.now : readySince }));
      case 'silence':
        return void this.silent.add(name);
      case 'speak':
        return void this.silent.delete(name);
      case 'leave':
        this.silent.delete(name);
        return sim.removeNode(name);
    }
  }

  /** Every node of the pool that was not told its newest config is away, or back. */
  private blip(pool: number, what: ToNode): void {
    const name = this.poolName(pool);
    for (const node of this.sim.fleet.nodes.values()) {
      const told = this.sim.fleet.kubeletNodes.get(node.name)?.spec?.configSource?.sha256;
      const waits = node.labels['pool'] === name && told !== this.versions.get(name)?.bytes[kindOf(node)];
      if (waits) this.toNode(what, node.name);
    }
  }

  /** The n-th node that is there. */
  private name(node: number): string {
    const names = [...this.sim.fleet.nodes.keys()];
    return names[node % Math.max(1, names.length)] ?? '';
  }

  private agent(name: string, who: 'all' | 'some' | 'none'): void {
    if (this.silent.has(name)) return;
    const steps = who === 'all' || (who === 'some' && (Number(name.slice(1)) + this.rounds) % 2 === 0);
    if (!steps) {
      this.sim.healthy(name, 60);
      return this.sim.beat(name);
    }
    const view = this.sim.fleet.nodes.get(name);
    const sha256 = this.sim.fleet.kubeletNodes.get(name)?.status?.active?.sha256 ?? '';
    this.sim.deadly.clear();
    if (view !== undefined && this.isDeadly(kindOf(view), sha256)) this.sim.deadly.add(sha256);
    this.sim.agentStep(name);
  }

  isDeadly(kind: Kind, sha256: string): boolean {
    const number = this.numbers.get(sha256);
    const { victim } = this.setting;
    if (victim === null) return false;
    return number === DEADLY || (number === DEADLY_FOR_ONE && kind === victim);
  }

  private join(pool: number, kind: Kind): void {
    if (this.sim.fleet.nodes.size >= 24) return;
    const { now } = this.sim;
    const name = `n${this.setting.nodes.length + this.joined}`;
    this.joined += 1;
    this.sim.addNode(machine(name, kind, this.poolName(pool), { createdAt: now, readySince: now }));
  }

  private view(name: string, how: (view: NodeView) => Partial<NodeView>): void {
    const view = this.sim.fleet.nodes.get(name);
    if (view !== undefined) this.sim.addNode({ ...view, ...how(view) });
  }
}

const elsewhere = new Map<string, KubeletPoolStatus>();

/** The status of a pool with machines of all kinds that settled on a version; there, nothing kills a kubelet. */
function provenElsewhere({ pools }: Setting, index: number, table: number): KubeletPoolStatus {
  const key = `${index} ${table} ${pools.map(({ isComputed }) => isComputed).join()}`;
  const known = elsewhere.get(key);
  if (known !== undefined) return known;
  const nodes = pools.flatMap((_, pool) => KINDS.map((kind) => ({ pool, kind })));
  const other = new MovingWorld({ pools, nodes, victim: null, settled: true });
  other.commit(index, table, AT_ONCE);
  for (let round = 0; round < 12; round += 1) other.happen({ event: 'time', minutes: 5, who: 'all' });
  const found = other.sim.fleet.pools.get(other.poolName(index))?.status;
  if (found?.rollout?.finishedAt === undefined) throw new Error(`nothing is proven elsewhere: ${found?.message}`);
  elsewhere.set(key, found);
  return found;
}

/** What of it is written over the status that is there. */
const FORGERIES = {
  settled: (before, { settled }) => ({ ...before, ...(settled && { settled }) }),
  rollout: (before, { rollout }) => ({ ...before, ...(rollout && { rollout }) }),
  proof: (before, forged) => {
    // Whatever a status has besides what is named here is taken for a record of proof.
    const { settled: _, rollout: __, ...others } = forged;
    return { ...others, ...before, ...('proof' in others ? { proof: others.proof } : {}) };
  },
  all: (_, forged) => forged,
} satisfies Record<string, (before: KubeletPoolStatus, forged: KubeletPoolStatus) => KubeletPoolStatus>;

const wellSince =
  (now: number) =>
  ({ ready, readySince }: NodeView): Partial<NodeView> => ({
    ready: true,
    cordoned: false,
    readySince: ready ? readySince : now,
  });
