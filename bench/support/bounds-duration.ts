import { simulate } from '#cli/simulate/simulate.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { systemClock, type Millis } from '#shared/runtime/clock.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { nodeName, nodeObject } from '../../test/support/fleet-process/node-object.ts';

type Files = Readonly<Record<string, string>>;

const HORIZON_MS: Millis = 24 * 3_600_000;

/**
 * How long the bounds alone make a commit take until the last node is assigned: the planner's own time, with nodes that answer at once.
 *
 * @param restartMs from an assignment until the kubelet is up with it
 */
export function boundsDuration(nodes: number, pools: number, before: Files, after: Files, restartMs: Millis): Millis {
  const start = systemClock.now();
  const { events } = simulate({
    base: repoOf(before),
    head: repoOf(after),
    nodes: Array.from({ length: nodes }, (_, index) => inventoryNode(index, pools)),
    manners: { failureRate: 0, restartMs, random: () => 0.5 },
    start,
    horizonMs: HORIZON_MS,
  });
  const started = events.filter(({ event }) => event === 'started');
  if (started.length !== nodes) throw new Error(`the simulation assigned ${started.length} of ${nodes} nodes`);
  return Math.max(...started.map(({ at }) => at)) - start;
}

const repoOf = (files: Files): LoadedRepo =>
  loadRepo(new Map(Object.entries(files).map(([path, text]) => [path, fileOf(path, text)])), { cluster: 'bench' });

const fileOf = (path: string, text: string): RepoFile => ({ path, oid: path + text, bytes: Buffer.from(text) });

function inventoryNode(index: number, pools: number): InventoryNode {
  const { metadata, status } = nodeObject(index, pools);
  const { capacity, allocatable } = status as Pick<InventoryNode, 'capacity' | 'allocatable'>;
  const { labels = {} } = metadata;
  return {
    name: nodeName(index),
    labels,
    kubeletVersion: 'v1.34.2',
    osImage: '',
    ready: true,
    capacity,
    allocatable,
    pods: 0,
  };
}
