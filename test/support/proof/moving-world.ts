import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { Plan } from '#reconciler/policy/plan.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, RELEASE_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit } from '../fleet.ts';
import { FleetSimulation } from '../fleet-simulation.ts';
import { kindOf, KINDS, tierOf, TIER, type Version, versionOf } from './machine-pools.ts';
import { claimsOf, FORGERIES } from './forged-statuses.ts';
import { ProofLedger } from './proof-ledger.ts';
import { checkClaims, checkReverted, type RevertLaw } from './proof-claims.ts';
import { beginRollouts, checkPass } from './proof-laws.ts';
import { type Happening, type Setting, TABLES } from './world-events.ts';
import { WorldNodes } from './world-nodes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const POOL_NAMES = ['blue', 'green', 'red'] as const;
/** In no pool. */
const NOBODY = 'nobody';

/** All nodes at once, after one of each class. */
const AT_ONCE: RolloutSpec = {
  maxUnavailable: '100%',
  probation: 'full',
  soak: '0s',
  onFailure: { threshold: 1, action: 'halt' },
};

/** How strictly a world is judged. */
interface Judgement {
  /** See `ProofLedger`. */
  readonly isStrict?: boolean;
  /** Whether what statuses say is held to what is so, besides what is written to nodes. */
  readonly readsClaims?: boolean;
}

/** Several pools and kinds of machines in one cluster; time, agents, people and machines move, and the reconciler has its turn after each event. */
export class MovingWorld {
  readonly sim = new FleetSimulation();
  readonly ledger: ProofLedger;
  readonly setting: Setting;
  readonly versions = new Map<string, Version>();
  private readonly nodes: WorldNodes;
  private readonly tables = new Map<string, number>();
  /** By pool, what somebody approved last. */
  private readonly approvals = new Map<string, string>();
  private readonly readsClaims: boolean;
  /** Pools that the leader has looked at: it goes by its own record of them. */
  private readonly led = new Set<string>();
  /** The cluster as the last pass left it. */
  private said: Pick<Fleet, 'pools'> = { pools: new Map() };
  private commits = 0;
  passes = 0;

  constructor(setting: Setting, { isStrict = false, readsClaims = true }: Judgement = {}) {
    this.setting = setting;
    this.readsClaims = readsClaims;
    this.ledger = new ProofLedger(isStrict);
    this.nodes = new WorldNodes(this.sim, setting.victim);
    for (const { pool, kind } of setting.nodes) this.nodes.add(this.poolName(pool), kind);
    for (const index of setting.pools.keys()) this.commit(index, 0, setting.settled ? AT_ONCE : undefined);
    this.look();
    for (let round = 0; setting.settled && round < 12; round += 1)
      this.happen({ event: 'time', minutes: 5, who: 'all' });
    if (setting.settled) for (const index of setting.pools.keys()) this.commit(index, 0);
  }

  /** Whether a pool has classes of machines. */
  isComputed(index: number): boolean {
    return this.setting.pools[index % this.setting.pools.length]?.isComputed === true;
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
    for (const name of before.pools.keys()) this.led.add(name);
    checkPass(this.ledger, before, planned.steps, this.sim.now);
    // What somebody else wrote, and stays, the reconciler says itself.
    if (this.readsClaims) checkClaims(this.ledger, this.said, this.sim.fleet);
    this.said = this.sim.fleet;
    beginRollouts(this.ledger, before, this.sim.fleet);
    return planned;
  }

  private look(): void {
    this.ledger.look(this.sim.fleet, this.sim.now);
  }

  /** People do no more than to approve what they are asked, machines leave everything alone, and all is well, for so long. */
  calm(hours: number): void {
    this.nodes.allWell();
    for (const index of this.setting.pools.keys()) this.apply({ event: 'resume', pool: index });
    for (let minutes = 0; minutes < hours * 60; minutes += 10) {
      for (const index of this.setting.pools.keys()) this.apply({ event: 'approve', pool: index });
      this.happen({ event: 'time', minutes: 10, who: 'all' });
    }
  }

  /** Lets a revert come to rest where one is under way, and holds it to its law. @returns whether one was */
  checkRevert(law: RevertLaw): boolean {
    if (![...this.sim.fleet.pools.values()].some(({ status }) => status?.halt?.action === 'revert')) return false;
    this.calm(8);
    checkReverted(this.ledger, this.sim.fleet, law);
    return true;
  }

  commit(index: number, table: number, rollout = this.setting.pools[index]?.rollout): void {
    const spec = this.setting.pools[index];
    if (spec === undefined || rollout === undefined) return;
    const name = this.poolName(index);
    const version = versionOf(name, TABLES[table] ?? [1, 2, 3, 4], spec.isComputed, rollout);
    this.nodes.learn(version);
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
        return this.nodes.agents(event.who);
      case 'commit':
        return this.commit(event.pool % this.setting.pools.length, event.table);
      case 'cordon':
      case 'uncordon':
      case 'ready':
      case 'not-ready':
      case 'silence':
      case 'speak':
      case 'leave':
        return this.nodes.happen(event.event, this.nodes.nth(event.node));
      case 'join':
        return this.nodes.join(this.poolName(event.pool), event.kind);
      case 'relabel':
        return this.nodes.relabel(this.nodes.nth(event.node), {
          pool: event.pool === null ? NOBODY : this.poolName(event.pool),
        });
      case 'reclass':
        return this.nodes.relabel(this.nodes.nth(event.node), { [TIER]: tierOf(event.kind) });
      case 'blip':
        for (const name of this.waiting(this.poolName(event.pool))) this.nodes.happen(event.what, name);
        return;
      case 'takeover':
        return this.takeover(event.hours);
      case 'clock':
        sim.own = event.hours * HOUR;
        return;
      case 'forget':
        return this.write(this.poolName(event.pool), () => undefined);
      case 'forge':
        if (event.found === true) this.led.clear();
        this.forge(event.pool, event.table, event.what);
        return event.found === true ? this.takeover(0) : undefined;
      case 'lose':
        this.write(this.poolName(event.pool), () => undefined);
        return this.takeover(0);
      case 'suspend':
        return sim.annotatePool(this.poolName(event.pool), { [SUSPEND_ANNOTATION]: 'a look at it' });
      case 'resume':
        return sim.annotatePool(this.poolName(event.pool), { [SUSPEND_ANNOTATION]: undefined });
      case 'approve': {
        const name = this.poolName(event.pool);
        const [asked] = awaitedApprovals(sim.fleet.pools.get(name)?.status);
        if (asked === undefined) return;
        const pool = this.ledger.pools.get(name);
        if (pool?.version.id === asked.sha256) pool.approved.add(asked.wave ?? '');
        this.approvals.set(name, approvalValue(asked));
        return sim.annotatePool(name, { [APPROVE_ANNOTATION]: this.approvals.get(name) });
      }
      case 'reapprove': {
        const name = this.poolName(event.pool);
        return sim.annotatePool(name, { [APPROVE_ANNOTATION]: this.approvals.get(name) });
      }
      case 'release': {
        const name = this.poolName(event.pool);
        const halt = sim.fleet.pools.get(name)?.status?.halt;
        if (halt !== undefined) this.ledger.release(name);
        return sim.annotatePool(name, halt === undefined ? {} : { [RELEASE_ANNOTATION]: `${halt.sha256}@${halt.at}` });
      }
    }
  }

  private takeover(hours: number): void {
    // The leader before knew its own record by heart.
    for (const [name, { status }] of this.sim.fleet.pools) if (status === undefined) this.ledger.forget(name);
    this.led.clear();
    this.sim.restart(hours * HOUR);
  }

  /** The nodes of the pool that were not told its newest config. */
  private waiting(pool: string): readonly string[] {
    const { nodes, kubeletNodes } = this.sim.fleet;
    const wanted = this.versions.get(pool)?.bytes;
    return [...nodes.values()]
      .filter((node) => node.labels['pool'] === pool)
      .filter((node) => kubeletNodes.get(node.name)?.spec?.configSource?.sha256 !== wanted?.[kindOf(node)])
      .map(({ name }) => name);
  }

  /** Somebody writes the status that the pool has in another cluster, where this version has come through all of its waves. */
  private forge(index: number, table: number | null, what: keyof typeof FORGERIES): void {
    const name = this.poolName(index);
    const found = provenElsewhere(this.setting, index % this.setting.pools.length, table ?? this.tables.get(name) ?? 0);
    const pool = this.ledger.pools.get(name);
    this.write(name, (before) => {
      const newest = before.rollout?.newest;
      const isOther = found.rollout?.sha256 !== pool?.version.id || newest === undefined;
      const isRead = pool !== undefined && !this.led.has(name) && (what === 'rollout' || what === 'all');
      if (isRead && isOther) pool.newest = undefined;
      if (isRead && found.rollout?.sha256 === pool.version.id) pool.isClaimed = true;
      if (pool !== undefined && !this.led.has(name) && (what === 'proof' || what === 'all'))
        this.ledger.claim(pool, claimsOf(found, pool));
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
    this.sim.fleet = { ...this.sim.fleet, pools: new Map([...this.sim.fleet.pools, [name, written]]) };
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
