import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { DrainView, PodCount } from '#reconciler/policy/fleet.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { plan, type Plan } from '#reconciler/policy/plan.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { ValidPool } from '#reconciler/policy/repo/loaded.ts';
import { configSource, fleetOf, idleNode, NOW } from './fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };

/**
 * A cluster in memory in which the reconciler's writes come true at once and agents move when they are told to. Time stands
 * still until it is moved on.
 */
export class FleetSimulation {
  fleet: Fleet = fleetOf({});
  inForce: CommitInForce | null = null;
  now: Millis = NOW;
  /** Nodes whose pods were told to leave, in order. */
  readonly evicted: string[] = [];
  /** How the drains stand, as the test wants them. */
  readonly drains = new Map<string, DrainView>();
  /** How many pods run on a node; undefined where the reconciler may not see pods. */
  running = new Map<string, number>();
  private readonly counts = new Map<string, PodCount>();
  /** SHA-256 of payloads that no kubelet survives. */
  readonly deadly = new Set<string>();
  /** By SHA-256 of a payload, every node that was ever told to run it. */
  readonly exposed = new Map<string, Set<string>>();
  private readonly boots = new Map<string, number>();

  reconcile(): Plan {
    const planned = plan(
      desiredState(this.inForce, this.fleet, () => []),
      this.fleet,
      SETTINGS,
      this.now,
      { blockers: new Map(), drains: this.drains, ...(this.running.size === 0 ? {} : { pods: this.counts }) },
    );
    for (const step of planned.steps) this.perform(step);
    return planned;
  }

  addNode(node: NodeView): void {
    this.fleet = { ...this.fleet, nodes: new Map([...this.fleet.nodes, [node.name, node]]) };
  }

  removeNode(name: string): void {
    const nodes = new Map(this.fleet.nodes);
    nodes.delete(name);
    this.fleet = { ...this.fleet, nodes };
  }

  /** The agent of a node takes one step towards what it was told. */
  agentStep(name: string): void {
    const node = this.fleet.kubeletNodes.get(name);
    if (node === undefined) return;
    this.put({
      ...node,
      status: { ...nextStatus(node, this.deadly, toTimestamp(this.now)), heartbeat: toTimestamp(this.now) },
    });
  }

  /** An agent that says what it likes. */
  report(name: string, status: KubeletNodeStatus): void {
    const node = this.fleet.kubeletNodes.get(name);
    if (node !== undefined) this.put({ ...node, status });
  }

  /** The machine of a node boots anew, whoever had it do so. */
  reboot(name: string): void {
    const node = this.fleet.kubeletNodes.get(name);
    if (node === undefined) return;
    const boots = (this.boots.get(name) ?? 1) + 1;
    this.boots.set(name, boots);
    this.put({ ...node, status: { ...node.status, bootID: `boot-${boots}` } });
  }

  /** The agent of a node says that it lives, and nothing else. */
  beat(name: string): void {
    const node = this.fleet.kubeletNodes.get(name);
    if (node !== undefined) this.put({ ...node, status: { ...node.status, heartbeat: toTimestamp(this.now) } });
  }

  /** A person annotates a pool; undefined takes an annotation away. */
  annotatePool(name: string, annotations: Readonly<Record<string, string | undefined>>): void {
    const pool = this.fleet.pools.get(name);
    if (pool === undefined) return;
    const all = Object.entries({ ...pool.metadata.annotations, ...annotations });
    const set = Object.fromEntries(all.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
    const changed = { ...pool, metadata: { ...pool.metadata, annotations: set } };
    this.fleet = { ...this.fleet, pools: new Map([...this.fleet.pools, [name, changed]]) };
  }

  private put(node: KubeletNode): void {
    this.fleet = { ...this.fleet, kubeletNodes: new Map([...this.fleet.kubeletNodes, [node.metadata.name, node]]) };
  }

  private change(name: string, how: { readonly [K in keyof NodeView]?: NodeView[K] | undefined }): void {
    const node = this.fleet.nodes.get(name);
    if (node !== undefined) this.addNode({ ...node, ...how } as NodeView);
  }

  private perform(step: Step): void {
    const { fleet } = this;
    switch (step.step) {
      case 'create-config-source': {
        const { config, pool } = step;
        const source = configSource({ ...config, name: pool, configName: config.name } as unknown as ValidPool);
        this.fleet = { ...fleet, configSources: new Map([...fleet.configSources, [config.name, source]]) };
        return;
      }
      case 'delete-config-source':
        this.fleet = { ...fleet, configSources: without(fleet.configSources, step.name) };
        return;
      case 'create-node': {
        const node = fleet.nodes.get(step.node);
        if (node !== undefined) this.put(idleNode(node, { heartbeat: toTimestamp(this.now) }));
        return;
      }
      case 'delete-node':
        this.fleet = { ...fleet, kubeletNodes: without(fleet.kubeletNodes, step.node) };
        return;
      case 'assign':
      case 'unassign':
      case 'amend': {
        const { node, spec } = step;
        this.put({ ...node, spec, metadata: { ...node.metadata, generation: (node.metadata.generation ?? 0) + 1 } });
        const sha256 = spec.configSource?.sha256 ?? '';
        this.exposed.set(sha256, (this.exposed.get(sha256) ?? new Set()).add(node.metadata.name));
        return;
      }
      case 'cordon':
        return this.change(step.node, { cordoned: true, drain: step.mark });
      case 'uncordon':
        return this.change(step.node, { cordoned: false, drainFailed: step.failed ?? undefined, drain: undefined });
      case 'untaint':
        return this.change(step.node, { gated: undefined });
      case 'count-pods':
        this.counts.set(step.node, { at: step.at, pods: this.running.get(step.node) ?? 0 });
        return;
      case 'evict':
        this.evicted.push(step.node);
        return;
      case 'create-pool':
        this.fleet = {
          ...fleet,
          pools: new Map([
            ...fleet.pools,
            [step.pool, { metadata: { name: step.pool, uid: step.pool }, spec: step.spec }],
          ]),
        };
        return;
      case 'write-pool':
        this.fleet = {
          ...fleet,
          pools: new Map([...fleet.pools, [step.pool.metadata.name, { ...step.pool, spec: step.spec }]]),
        };
        return;
      case 'write-pool-status': {
        const present = fleet.pools.get(step.pool.metadata.name) ?? step.pool;
        this.fleet = {
          ...fleet,
          pools: new Map([...fleet.pools, [step.pool.metadata.name, { ...present, status: step.status }]]),
        };
        return;
      }
      case 'delete-pool':
        this.fleet = { ...fleet, pools: without(fleet.pools, step.pool) };
    }
  }
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

/** As the agent does: the very rejection that a person forgave is forgotten. */
function forgetForgiven(node: KubeletNode): KubeletNodeStatus {
  const { rejected = [], ...status } = { ...node.status, observedGeneration: node.metadata.generation ?? 0 };
  return { ...status, rejected: rejected.filter(({ at }) => at !== node.spec?.forgive) };
}

/** The agent's life in four steps: it hears, tries, and promotes or takes back. */
function nextStatus(node: KubeletNode, deadly: ReadonlySet<string>, at: string): KubeletNodeStatus {
  const source = node.spec?.configSource;
  const status = forgetForgiven(node);
  const apply = node.spec?.apply ?? 'overlay';
  const wanted = source === undefined ? { name: 'local' } : { name: source.name, sha256: source.sha256, apply };
  const rejected = status.rejected ?? [];
  if (rejected.some((entry) => entry.sha256 === source?.sha256)) return { ...status, assigned: wanted, phase: 'Idle' };
  if (status.phase === 'Trial' && status.active?.name === wanted.name) {
    if (source === undefined || !deadly.has(source.sha256)) {
      return { ...status, phase: 'Idle', lastKnownGood: wanted, assigned: wanted, promotedAt: at };
    }
    const why = { reason: 'KubeletCrashLooping', message: 'exit-code 1', at };
    const entry = { name: source.name, sha256: source.sha256, apply, ...why };
    const good = status.lastKnownGood ?? { name: 'local' };
    return { ...status, phase: 'Idle', active: good, error: why, rejected: [...rejected, entry] };
  }
  const { reboot } = node.spec ?? {};
  if (reboot !== undefined && reboot.boot === status.bootID && source !== undefined) {
    const so = { config: source.name, since: at, healthySeconds: 0, durationSeconds: 600, restarts: 0 };
    return { ...status, assigned: wanted, phase: 'Trial', trial: { ...so, awaitsReboot: reboot.by } };
  }
  const there = status.active?.name === wanted.name && status.lastKnownGood?.name === wanted.name;
  if (there) return { ...status, assigned: wanted, phase: 'Idle' };
  return { ...status, assigned: wanted, active: wanted, phase: 'Trial', trial: null };
}
