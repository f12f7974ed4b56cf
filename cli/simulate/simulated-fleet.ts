import {
  DEFAULT_TRIAL,
  type ConfigReference,
  type KubeletNode,
  type KubeletNodeStatus,
  LOCAL,
} from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { ConfigSourceView, Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { InventoryNode } from '../inventory/node.ts';

/** How nodes take a config. */
export interface Manners {
  /** Share of the trials that fail, 0 to 1. */
  readonly failureRate: number;
  /** From the assignment until the kubelet is up with it. */
  readonly restartMs: Millis;
  /** A number in [0, 1) for each trial. */
  readonly random: () => number;
}

/** What happened to a node, for the timeline. */
export interface NodeEvent {
  readonly at: Millis;
  readonly node: string;
  readonly pool: string;
  readonly event: 'started' | 'proved' | 'failed';
}

/**
 * A cluster in memory in which the planner's steps come true at once and nodes answer after the time that a restart and a
 * trial take. Every node has an agent; a failed trial is taken back, as the agent does.
 */
export class SimulatedFleet {
  readonly events: NodeEvent[] = [];
  private readonly nodes = new Map<string, NodeView>();
  private readonly kubeletNodes = new Map<string, KubeletNode>();
  private readonly configSources = new Map<string, ConfigSourceView>();
  private readonly pools = new Map<string, KubeletPool>();
  private readonly ends = new Map<string, Millis>();
  private readonly manners: Manners;

  constructor(inventory: readonly InventoryNode[], manners: Manners, now: Millis) {
    this.manners = manners;
    for (const [index, { name, labels, kubeletVersion, createdAt }] of inventory.entries()) {
      // Where the inventory does not say how old nodes are, its order counts.
      const since = now - 365 * 86_400_000 + index;
      const view = {
        name,
        uid: name,
        labels,
        ready: true,
        readySince: since,
        cordoned: false,
        kubeletVersion,
        createdAt: createdAt ?? since,
      };
      this.nodes.set(name, view);
    }
  }

  /** From now on nodes are as the inventory shows them: those that are away now were not in the past. */
  beAsNow(inventory: readonly InventoryNode[]): void {
    for (const { name, ready, cordoned = false } of inventory) this.mark(name, { ready, cordoned });
  }

  at(now: Millis): Fleet {
    const heartbeat = toTimestamp(now);
    const alive = [...this.kubeletNodes].map(
      ([name, node]) => [name, { ...node, status: { ...node.status, heartbeat } }] as const,
    );
    return {
      nodes: this.nodes,
      kubeletNodes: new Map(alive),
      configSources: this.configSources,
      pools: this.pools,
    };
  }

  /** The next moment at which a trial ends; Infinity where none is under way. */
  nextEnd(): Millis {
    return [...this.ends.values()].reduce((next, end) => Math.min(next, end), Infinity);
  }

  /** The next moment at which a node has proved its config for one of its pool's soaks; Infinity where there is none. */
  nextSoakEnd(now: Millis): Millis {
    const soaks = new Map([...this.pools].map(([name, { spec }]) => [name, soaksOf(spec?.rollout)]));
    let next = Infinity;
    for (const { spec, status } of this.kubeletNodes.values()) {
      const promotedAt = fromTimestamp(status?.promotedAt) ?? -Infinity;
      for (const soakMs of soaks.get(spec?.pool ?? '') ?? []) {
        if (promotedAt + soakMs > now) next = Math.min(next, promotedAt + soakMs);
      }
    }
    return next;
  }

  /** Ends the trials that are due. */
  pass(now: Millis): void {
    for (const [name, end] of this.ends) {
      if (end > now) continue;
      this.ends.delete(name);
      const node = this.kubeletNodes.get(name);
      if (node !== undefined) this.end(node, now);
    }
  }

  private end(node: KubeletNode, now: Millis): void {
    const source = node.spec?.configSource;
    const wanted = wantedBy(node);
    const fails = source !== undefined && this.manners.random() < this.manners.failureRate;
    const status: KubeletNodeStatus = fails
      ? {
          ...node.status,
          phase: 'Idle',
          rejected: [
            {
              name: source.name,
              sha256: source.sha256,
              apply: node.spec?.apply ?? 'overlay',
              reason: 'Simulated',
              message: 'a simulated failure',
              at: toTimestamp(now),
            },
          ],
        }
      : { ...node.status, phase: 'Idle', active: wanted, lastKnownGood: wanted, promotedAt: toTimestamp(now) };
    this.kubeletNodes.set(node.metadata.name, { ...node, status });
    this.tell(node, fails ? 'failed' : 'proved', now);
  }

  private tell({ metadata, spec }: KubeletNode, event: NodeEvent['event'], at: Millis): void {
    this.events.push({ at, node: metadata.name, pool: spec?.pool ?? '-', event });
  }

  perform(step: Step, now: Millis): void {
    switch (step.step) {
      case 'create-config-source': {
        const { name, sha256, payload } = step.config;
        const about = { uid: name, resourceVersion: '1', pool: step.pool, canonicalForm: 1, createdAt: now };
        this.configSources.set(name, { name, sha256, payload, ...about });
        return;
      }
      case 'create-node':
        this.kubeletNodes.set(step.node, newNode(step.node, step.uid));
        return;
      case 'assign':
      case 'unassign':
      case 'amend':
        return this.assign(step, now);
      case 'create-pool':
        this.pools.set(step.pool, { metadata: { name: step.pool, uid: step.pool }, spec: step.spec });
        return;
      case 'write-pool':
      case 'write-pool-status': {
        const part = step.step === 'write-pool' ? { spec: step.spec } : { status: step.status };
        this.pools.set(step.pool.metadata.name, { ...step.pool, ...this.pools.get(step.pool.metadata.name), ...part });
        return;
      }
      case 'delete-pool':
        this.pools.delete(step.pool);
        return;
      case 'cordon':
        return this.mark(step.node, { cordoned: true, drain: step.mark });
      case 'uncordon':
        return this.mark(step.node, { cordoned: false, drain: undefined });
      case 'delete-config-source':
      case 'delete-node':
      case 'evict':
      case 'count-pods':
      case 'untaint':
    }
  }

  private mark(name: string, how: { readonly [K in keyof NodeView]?: NodeView[K] | undefined }): void {
    const node = this.nodes.get(name);
    if (node !== undefined) this.nodes.set(name, { ...node, ...how } as NodeView);
  }

  private assign({ node, spec }: Extract<Step, { step: 'assign' | 'unassign' | 'amend' }>, now: Millis): void {
    const known = this.kubeletNodes.get(node.metadata.name) ?? node;
    const generation = (known.metadata.generation ?? 0) + 1;
    const told: KubeletNode = { ...known, spec, metadata: { ...known.metadata, generation } };
    const same = told.status?.active?.name === wantedBy(told).name;
    const status: KubeletNodeStatus = { ...told.status, observedGeneration: generation, assigned: wantedBy(told) };
    this.kubeletNodes.set(told.metadata.name, { ...told, status: { ...status, phase: same ? 'Idle' : 'Trial' } });
    if (same) return;
    const trialMs = parseDuration(spec.trial?.duration ?? DEFAULT_TRIAL.duration) ?? 0;
    this.ends.set(told.metadata.name, now + this.manners.restartMs + trialMs);
    this.tell(told, 'started', now);
  }
}

/** Every time for which a pool wants a config to have proved itself. */
function soaksOf({ soak = '0s', canary, steps = [] }: Partial<RolloutSpec> = {}): readonly Millis[] {
  const texts = new Set([soak, canary?.soak ?? soak, ...steps.map((step) => step.soak ?? soak)]);
  return [...texts].map((text) => parseDuration(text) ?? 0);
}

function newNode(name: string, uid: string): KubeletNode {
  const local = { name: LOCAL };
  return {
    metadata: {
      name,
      uid: `k-${uid}`,
      generation: 1,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: {},
    status: {
      observedGeneration: 1,
      phase: 'Idle',
      assigned: local,
      active: local,
      lastKnownGood: local,
      bootID: 'simulated',
    },
  };
}

function wantedBy({ spec }: KubeletNode): ConfigReference {
  const source = spec?.configSource;
  return source === undefined
    ? { name: LOCAL }
    : { name: source.name, sha256: source.sha256, apply: spec?.apply ?? 'overlay' };
}
