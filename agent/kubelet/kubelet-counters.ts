import type { KubeletCounters } from '../ports/kubelet-probe.ts';

/**
 * Since Kubernetes 1.19; `pod_start_sli` since 1.26, whose sum falls where images are pulled in parallel
 * (kubernetes/kubernetes#130432). Only these are counted: `/metrics` has thousands of lines.
 */
const COUNTED: ReadonlySet<string> = new Set([
  'process_cpu_seconds_total',
  'kubelet_evictions',
  'kubelet_runtime_operations_errors_total',
  ...['pleg_relist', 'pod_start', 'pod_start_sli'].flatMap((name) => [
    `kubelet_${name}_duration_seconds_sum`,
    `kubelet_${name}_duration_seconds_count`,
  ]),
]);

/** What a kubelet's `/metrics` has counted since the kubelet was started. */
export function countersIn(metrics: string): KubeletCounters {
  const sums: Record<string, number> = {};
  for (const line of metrics.split('\n')) {
    const name = /^[a-z_]+/.exec(line)?.[0] ?? '';
    const value = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (COUNTED.has(name) && Number.isFinite(value)) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}
