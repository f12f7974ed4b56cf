import type { PodEvictions } from '../ports/kubelet-probe.ts';

/** Kubelets count evictions since 1.16, and pods that they refused since 1.32. Without a sample, nothing was counted yet. */
const SAMPLE = /^kubelet_(evictions|admission_rejections_total)\{(?:eviction_signal|reason)="([^"\\]+)"\} (\d\S*)$/gm;

/** What a kubelet's `/metrics` says of pods that it evicted or refused since it was started. */
export function podEvictionsIn(metrics: string): PodEvictions {
  const samples = [...metrics.matchAll(SAMPLE)].map(([, name, why = '', count]) => {
    const what = name === 'evictions' ? 'evicted' : 'refused';
    return [`${what} ${why}`, Number(count)] as const;
  });
  return Object.fromEntries(samples.filter(([, count]) => Number.isSafeInteger(count)));
}
