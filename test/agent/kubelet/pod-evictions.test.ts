import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podEvictionsIn } from '#agent/kubelet/pod-evictions.ts';

/** As kubelets print it: of a counter with labels, nothing before the first time. */
const METRICS = `# HELP kubelet_admission_rejections_total [ALPHA] Cumulative number pod admission rejections by the Kubelet.
# TYPE kubelet_admission_rejections_total counter
kubelet_admission_rejections_total{reason="OutOfcpu"} 2
kubelet_admission_rejections_total{reason="node(s) had untolerated taint(s)"} 1
# HELP kubelet_evictions [ALPHA] Cumulative number of pod evictions by eviction signal
# TYPE kubelet_evictions counter
kubelet_evictions{eviction_signal="allocatableMemory.available"} 1
kubelet_evictions{eviction_signal="memory.available"} 1.2e+02
# HELP kubelet_eviction_stats_age_seconds [ALPHA] Time between when stats are collected, and when pod is evicted
# TYPE kubelet_eviction_stats_age_seconds histogram
kubelet_eviction_stats_age_seconds_bucket{eviction_signal="memory.available",le="+Inf"} 1
kubelet_preemptions{preemption_signal="memory"} 7
`;

describe('what a kubelet says of pods that it harmed', () => {
  it('is how many it evicted and refused, and why', () => {
    assert.deepEqual(podEvictionsIn(METRICS), {
      'refused OutOfcpu': 2,
      'refused node(s) had untolerated taint(s)': 1,
      'evicted allocatableMemory.available': 1,
      'evicted memory.available': 120,
    });
  });

  it('is nothing where it has not counted any yet, or is too old to count', () => {
    assert.deepEqual(podEvictionsIn('kubelet_running_pods 3\n'), {});
    assert.deepEqual(podEvictionsIn(''), {});
  });

  it('is passed over where it makes no sense', () => {
    for (const sample of ['NaN', '+Inf', '-1', '1.5', '1 1700000000000', '']) {
      assert.deepEqual(podEvictionsIn(`kubelet_evictions{eviction_signal="x"} ${sample}\n`), {});
    }
    assert.deepEqual(podEvictionsIn('kubelet_evictions{eviction_signal="a",other="b"} 1\n'), {});
    assert.deepEqual(podEvictionsIn('xkubelet_evictions{eviction_signal="a"} 1\n'), {});
  });

  it('is no prototype of anything', () => {
    const harm = podEvictionsIn('kubelet_evictions{eviction_signal="memory.available"} 1\n');
    assert.deepEqual(Object.keys(harm), ['evicted memory.available']);
  });
});
