import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countersIn } from '#agent/kubelet/kubelet-counters.ts';

const METRICS = `# HELP kubelet_evictions [ALPHA] Cumulative number of pod evictions by eviction signal
# TYPE kubelet_evictions counter
kubelet_evictions{eviction_signal="memory.available"} 3
kubelet_evictions{eviction_signal="nodefs.available"} 2
kubelet_pleg_relist_duration_seconds_bucket{le="0.005"} 11
kubelet_pleg_relist_duration_seconds_sum 4.25
kubelet_pleg_relist_duration_seconds_count 61
kubelet_pod_start_duration_seconds_sum 9
kubelet_pod_start_duration_seconds_count 3
kubelet_pod_start_sli_duration_seconds_sum -9.2e+09
kubelet_pod_start_sli_duration_seconds_count 3
kubelet_pod_start_total_duration_seconds_sum 60
kubelet_runtime_operations_errors_total{operation_type="container_status"} 1
kubelet_runtime_operations_total{operation_type="version"} 1
process_cpu_seconds_total 1.234e+02
process_cpu_seconds_total_of_others 7
`;

describe('what a kubelet counts', () => {
  it('is summed over labels, by metric', () => {
    assert.deepEqual(countersIn(METRICS), {
      kubelet_evictions: 5,
      kubelet_pleg_relist_duration_seconds_sum: 4.25,
      kubelet_pleg_relist_duration_seconds_count: 61,
      kubelet_pod_start_duration_seconds_sum: 9,
      kubelet_pod_start_duration_seconds_count: 3,
      kubelet_pod_start_sli_duration_seconds_sum: -9.2e9,
      kubelet_pod_start_sli_duration_seconds_count: 3,
      kubelet_runtime_operations_errors_total: 1,
      process_cpu_seconds_total: 123.4,
    });
  });

  it('is nothing in what is no metrics at all', () => {
    assert.deepEqual(
      countersIn('<html>\nkubelet_evictions 3x\nprocess_cpu_seconds_total NaN\nkubelet_evictions +Inf\n'),
      {},
    );
  });
});
