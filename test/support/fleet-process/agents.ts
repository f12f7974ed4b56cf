import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { listWatch } from '#shared/kube/list-watch.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_NODES } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { TrialManners } from './asks.ts';
import { timedReport } from './trial-time.ts';

/** Agents without nodes, all in one process: each hears of its assignment and reports, a step at a time. */
export interface Agents {
  /** How often a kubelet was restarted with each config, over all nodes: `<node> <config>` to a count. */
  readonly restarts: ReadonlyMap<string, number>;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * @param stepMs from hearing of something to reporting it
 * @param trials how long trials take; default: they end with the next step
 */
export function createAgents(kube: Kube, clock: Clock, stepMs: Millis, trials?: TrialManners): Agents {
  const nodes = new Map<string, KubeletNode>();
  /** When each that has something to report is to look again, by its name. */
  const due = new Map<string, Millis>();
  /** When the trials began that are under way. */
  const begun = new Map<string, Millis>();
  const restarts = new Map<string, number>();

  const consider = (node: KubeletNode): void => {
    const { name } = node.metadata;
    nodes.set(name, node);
    const next = timedReport(node, '', trials);
    if (next === null) return;
    const now = clock.monotonic();
    const atMs = next.afterMs === 0 ? now + stepMs : (begun.get(name) ?? now) + next.afterMs;
    due.set(name, Math.min(atMs, due.get(name) ?? Infinity));
  };

  const report = async (name: string, status: KubeletNode['status'], node: KubeletNode): Promise<void> => {
    const change = mergeDiff({ ...node.status }, { ...status }) ?? {};
    const { resourceVersion } = node.metadata;
    const patch = { metadata: { resourceVersion }, status: change };
    consider(await kube.mergePatch<KubeletNode>({ resource: KUBELET_NODES }, name, patch, { subresource: 'status' }));
  };

  /** One step of one agent. What the API server does not take is tried again: real agents do not forget either. */
  const step = async (name: string): Promise<void> => {
    due.delete(name);
    const node = nodes.get(name);
    const next = node === undefined ? null : timedReport(node, toTimestamp(clock.now()), trials);
    if (node === undefined || next === null) return;
    const now = clock.monotonic();
    if (next.afterMs > now - (begun.get(name) ?? -Infinity)) return consider(node);
    if (next.restarted) begun.set(name, now);
    try {
      await report(name, next.status, node);
      const key = `${name} ${next.status.active?.name ?? ''}`;
      if (next.restarted) restarts.set(key, (restarts.get(key) ?? 0) + 1);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      // After these two the watch brings something newer.
      if (!isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) consider(node);
    }
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const now = clock.monotonic();
      for (const [name, atMs] of due) if (atMs <= now) void step(name);
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  };

  const listen = async (signal: AbortSignal): Promise<void> => {
    const options = { signal, clock, random: Math.random, onFault: () => undefined };
    for await (const heard of listWatch<KubeletNode>(kube, { resource: KUBELET_NODES }, options)) {
      if (heard.heard === 'replaced') heard.items.forEach(consider);
      else if (heard.type === 'DELETED') nodes.delete(heard.item.metadata.name);
      else consider(heard.item);
    }
  };

  return {
    restarts,
    async run(signal) {
      await Promise.all([listen(signal), work(signal)]);
    },
  };
}

const LOOK_EVERY_MS: Millis = 10;
