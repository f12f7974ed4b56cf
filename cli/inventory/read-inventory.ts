import type { KubeObject } from '#shared/contract/api/object.ts';
import { isMap, mapOf, valueIn } from '#shared/runtime/maps.ts';
import { parse } from 'yaml';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { CORDONED_ANNOTATION } from '#shared/contract/api/group.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { readAtMost } from '../read-at-most.ts';
import type { InventoryNode } from './inventory-node.ts';
import { podAddresses } from './pod-addresses.ts';
import { featureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';
import { marksOf } from '#reconciler/policy/participation.ts';
import { vitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

type Raw = Readonly<Record<string, unknown>>;

/** A text of more than half a gibibyte is none to V8. */
const MOST_BYTES = 500 * 1024 * 1024;

/**
 * Nodes from a file that `kubectl get nodes -o json` (or yaml) wrote. A list that also holds pods (`kubectl get
 * nodes,pods --all-namespaces -o json`) says how many run on each node as well, and what those request that it cannot do without. With
 * `knodes` it says what agents know of their machines.
 *
 * @throws GitopsError `INVENTORY_UNREADABLE`
 */
export async function readInventory(path: string): Promise<readonly InventoryNode[]> {
  const unreadable = (why: string): GitopsError =>
    new GitopsError(
      'INVENTORY_UNREADABLE',
      `${path} is not an inventory: ${why}. Make one with kubectl get nodes -o json > nodes.json`,
    );
  let document: unknown;
  try {
    const bytes = await readAtMost(path, MOST_BYTES);
    if (bytes === undefined) throw new Error(`it has more than ${MOST_BYTES / 1024 / 1024} MiB`);
    const text = bytes.toString('utf8');
    // Every JSON is YAML, but read as such a thousand nodes take sixty times as long, and several hundred MB.
    document = jsonIn(text) ?? parse(text);
  } catch (error) {
    throw unreadable(reasonOf(error));
  }
  const items = mapOf(document)['items'];
  if (!Array.isArray(items)) throw unreadable('it has no list of items');
  return nodesFrom(items);
}

/** Made once, not for each comparison. */
const BY_NUMBER = new Intl.Collator('en', { numeric: true });

const ENDED: ReadonlySet<unknown> = new Set(['Succeeded', 'Failed']);

/** Without what nothing here reads, and most of a Node's bytes are: what images it has. */
export function withoutImages<T extends KubeObject>(node: T): T {
  const status = valueIn(node, ['status']);
  if (!isMap(status)) return node;
  const { images: _, ...kept } = status;
  return { ...node, status: kept };
}

/** Nodes and, where they are among the objects, their pods. */
export function nodesFrom(objects: readonly unknown[]): readonly InventoryNode[] {
  const maps = objects.map(mapOf);
  const pods = maps.filter((object) => object['kind'] === 'Pod');
  const nodes = maps.filter((object) => object['kind'] === 'Node' || object['kind'] === undefined);
  const running = pods.filter((pod) => !ENDED.has(mapOf(pod['status'])['phase']));
  const byNode = Map.groupBy(running, (pod) => textIn(mapOf(pod['spec'])['nodeName']));
  const agents = agentsIn(
    maps.filter((object) => object['kind'] === 'KubeletNode'),
    newestOf(nodes.map(heartbeatOfKubelet)),
  );
  return nodes
    .map((node) => nodeFrom(node, pods.length === 0 ? undefined : byNode))
    .map((node) => ({ ...node, ...agents(node.name) }))
    .filter(({ name }) => name !== '')
    .sort((a, b) => BY_NUMBER.compare(a.name, b.name));
}

/**
 * What agents say, by the name of the node. When the inventory was made, which may be a file and old, is when the newest of them or of the
 * kubelets spoke.
 *
 * @param heardMs when the newest of the kubelets did; 0 if unknown
 */
function agentsIn(
  kubeletNodes: readonly Raw[],
  heardMs: number,
): (node: string) => Pick<InventoryNode, 'numaNodes' | 'silent'> {
  const statuses = new Map(
    kubeletNodes.map(({ metadata, status }) => [textIn(mapOf(metadata)['name']), mapOf(status)] as const),
  );
  const heartbeatOf = (status: Raw = {}): number => timeIn(status['heartbeat']);
  // Without KubeletNodes nothing is known of agents.
  const newest = statuses.size === 0 ? 0 : newestOf([heardMs, ...[...statuses.values()].map(heartbeatOf)]);
  return (node) => {
    const status = statuses.get(node);
    const numaNodes = status?.['numaNodes'];
    return {
      ...(typeof numaNodes === 'number' ? { numaNodes } : {}),
      ...(newest - heartbeatOf(status) > AGENT_SILENT_MS ? { silent: true as const } : {}),
    };
  };
}

/** Kubelets write it every five minutes where nothing else changes (`nodeStatusReportFrequency`). */
const heartbeatOfKubelet = (node: Raw): number =>
  newestOf(conditionsOf(mapOf(node['status'])).map(({ lastHeartbeatTime }) => timeIn(lastHeartbeatTime)));

const conditionsOf = ({ conditions }: Raw): readonly Raw[] => (Array.isArray(conditions) ? conditions.map(mapOf) : []);

function nodeFrom(node: Raw, pods: ReadonlyMap<string, readonly Raw[]> | undefined): InventoryNode {
  const metadata = mapOf(node['metadata']);
  const status = mapOf(node['status']);
  const nodeInfo = mapOf(status['nodeInfo']);
  const conditions = conditionsOf(status);
  const name = textIn(metadata['name']);
  const spec = mapOf(node['spec']);
  const addresses = podAddresses(spec);
  const isDrained = CORDONED_ANNOTATION in mapOf(metadata['annotations']);
  const taints = (Array.isArray(spec['taints']) ? spec['taints'].map(mapOf) : []).map(({ key, value }) => ({
    key: textIn(key),
    value: textIn(value),
  }));
  const createdAt = Date.parse(textIn(metadata['creationTimestamp']));
  return {
    name,
    labels: textsIn(metadata['labels']),
    kubeletVersion: textIn(nodeInfo['kubeletVersion']),
    osImage: textIn(nodeInfo['osImage']),
    ready: conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    ...(spec['unschedulable'] === true && !isDrained ? { cordoned: true as const } : {}),
    ...marksOf(metadata['deletionTimestamp'], taints),
    ...(addresses === undefined ? {} : { podAddresses: addresses }),
    ...(Number.isNaN(createdAt) ? {} : { createdAt }),
    capacity: textsIn(status['capacity']),
    allocatable: textsIn(status['allocatable']),
    pods: pods === undefined ? undefined : (pods.get(name) ?? []).length,
    ...(pods === undefined
      ? {}
      : { vital: vitalPods(pods.get(name) ?? []), needs: featureNeeds(pods.get(name) ?? []) }),
    ...(Array.isArray(status['declaredFeatures']) ? { declares: status['declaredFeatures'].map(String) } : {}),
  };
}

const newestOf = (times: readonly number[]): number => times.reduce((last, time) => Math.max(last, time), 0);
const timeIn = (value: unknown): number => Date.parse(textIn(value)) || 0;
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(mapOf(value)).map(([key, item]) => [key, String(item)]));
