import { FIRST_SEEN_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { ConfigSourceView, Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { nextReport } from './simulated-agent.ts';

/**
 * The fleet after these steps of a plan, in which every write comes true at once. Nodes hear of nothing by it: an agent
 * only ever reports that it is there, when its KubeletNode is created. Evictions and counts of pods change no object.
 */
export function applySteps(fleet: Fleet, steps: readonly Step[], now: Millis): Fleet {
  const after: Writable = {
    nodes: new Map(fleet.nodes),
    kubeletNodes: new Map(fleet.kubeletNodes),
    configSources: new Map(fleet.configSources),
    pools: new Map(fleet.pools),
  };
  for (const step of steps) write(step, after, now);
  return after;
}

interface Writable extends Fleet {
  readonly nodes: Map<string, NodeView>;
  readonly kubeletNodes: Map<string, KubeletNode>;
  readonly configSources: Map<string, ConfigSourceView>;
  readonly pools: Map<string, KubeletPool>;
}

function write(step: Step, { nodes, kubeletNodes, configSources, pools }: Writable, now: Millis): void {
  switch (step.step) {
    case 'create-config-source': {
      const { name, sha256, payload } = step.config;
      const about = { uid: `cm-${name}`, resourceVersion: '1', pool: step.pool, canonicalForm: 1, createdAt: now };
      configSources.set(name, { name, sha256, payload, ...about });
      return;
    }
    case 'delete-config-source':
      configSources.delete(step.name);
      return;
    case 'create-node':
      kubeletNodes.set(step.node, newNode(step, now));
      return;
    case 'remember': {
      const known = kubeletNodes.get(step.node) ?? step.present;
      const all = Object.entries({ ...known.metadata.annotations, ...step.annotations });
      const annotations = Object.fromEntries(all.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
      kubeletNodes.set(step.node, { ...known, metadata: { ...known.metadata, annotations } });
      return;
    }
    case 'delete-node':
      kubeletNodes.delete(step.node);
      return;
    case 'assign':
    case 'unassign':
    case 'amend': {
      const known = kubeletNodes.get(step.node.metadata.name) ?? step.node;
      const { name, generation = 0 } = known.metadata;
      const metadata = { ...known.metadata, generation: generation + 1 };
      kubeletNodes.set(name, { ...known, metadata, spec: step.spec });
      return;
    }
    case 'cordon':
      return change(nodes, step.node, (node) => ({ ...node, cordoned: true, drain: step.mark }));
    case 'uncordon':
      return change(nodes, step.node, (node) => {
        const { drain: _, drainFailed: __, ...rest } = node;
        return { ...rest, cordoned: false, ...(step.failed === null ? {} : { drainFailed: step.failed }) };
      });
    case 'untaint':
      return change(nodes, step.node, (node) => {
        const { gated: _, ...rest } = node;
        return rest;
      });
    case 'create-pool':
      pools.set(step.pool, { metadata: { name: step.pool, uid: step.pool }, spec: step.spec });
      return;
    case 'write-pool':
    case 'write-pool-status': {
      const part = step.step === 'write-pool' ? { spec: step.spec } : { status: step.status };
      const { name } = step.pool.metadata;
      pools.set(name, { ...(pools.get(name) ?? step.pool), ...part });
      return;
    }
    case 'delete-pool':
      pools.delete(step.pool);
      return;
    case 'hold-pool':
    case 'evict':
    case 'count-pods':
  }
}

function change(nodes: Map<string, NodeView>, name: string, how: (node: NodeView) => NodeView): void {
  const node = nodes.get(name);
  if (node !== undefined) nodes.set(name, how(node));
}

function newNode({ node: name, uid, at }: Extract<Step, { step: 'create-node' }>, now: Millis): KubeletNode {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  const annotations = { [FIRST_SEEN_ANNOTATION]: toTimestamp(at) };
  const node = {
    metadata: { name, uid: `k-${uid}`, generation: 1, resourceVersion: '1', annotations, ownerReferences },
  };
  return { ...node, status: nextReport(node, toTimestamp(now))?.status ?? {} };
}
