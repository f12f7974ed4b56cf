import { fromTimestamp } from '#shared/runtime/clock.ts';
import { isMap, mapOf, valueIn } from '#shared/runtime/maps.ts';
import type { SystemUse } from '../node-facts.ts';

const NANO = 1e9;

/** What pods use together is a container of its own there. */
const PODS = 'pods';

/**
 * What all outside of pods uses, from an answer of the kubelet's `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1): the whole node
 * without the cgroup of pods.
 *
 * @returns undefined where the answer does not say it
 */
export function systemUseOf(summary: unknown): SystemUse | undefined {
  const containers = valueIn(summary, ['node', 'systemContainers']);
  const named = (Array.isArray(containers) ? containers.filter(isMap) : []).map(({ name, ...of }) => ({
    name: String(name).slice(0, 40),
    cpu: (numberIn(of, 'cpu', 'usageNanoCores') ?? 0) / NANO,
    memory: numberIn(of, 'memory', 'workingSetBytes') ?? 0,
  }));
  const node = mapOf(valueIn(summary, ['node']));
  const at = fromTimestamp(String(valueIn(node, ['memory', 'time'])));
  const pods = named.find(({ name }) => name === PODS);
  const [cpu, memory] = [numberIn(node, 'cpu', 'usageNanoCores'), numberIn(node, 'memory', 'workingSetBytes')];
  if (at === undefined || pods === undefined) return undefined;
  return {
    at,
    ...(cpu === undefined ? {} : { cpu: Math.max(0, cpu / NANO - pods.cpu) }),
    ...(memory === undefined ? {} : { memory: Math.max(0, memory - pods.memory) }),
    parts: named.filter(({ name }) => name === 'kubelet' || name === 'runtime'),
  };
}

function numberIn(of: unknown, ...path: readonly string[]): number | undefined {
  const value = valueIn(of, path);
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
