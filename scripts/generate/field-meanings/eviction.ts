import type { EVICTION_FIELDS } from '#shared/contract/kubelet-config/fields/eviction.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const EVICTION_MEANINGS: MeaningsOf<typeof EVICTION_FIELDS> = {
  evictionHard: 'Amounts or percentages below which pods are evicted at once, by signal',
  evictionSoft: 'Amounts or percentages below which pods are evicted after a grace period, by signal',
  evictionSoftGracePeriod: 'How long the signal has to stay below its soft threshold before pods are evicted',
  evictionPressureTransitionPeriod: 'How long the node still reports pressure after a signal recovered',
  evictionMaxPodGracePeriod: 'Most seconds that a pod gets to terminate when a soft threshold evicts it',
  evictionMinimumReclaim: 'How much more than the threshold is freed once pods are evicted, by signal',
  mergeDefaultEvictionSettings: 'Keeps the default thresholds of signals that are not named, instead of dropping them',
  shutdownGracePeriod: 'How long a shutdown of the machine waits for pods to terminate; 0s for not at all',
  shutdownGracePeriodCriticalPods: 'Part of shutdownGracePeriod that is kept for critical pods',
  shutdownGracePeriodByPodPriority:
    'How long a shutdown waits for pods, by their priority; replaces the other two shutdown fields',
  'shutdownGracePeriodByPodPriority[].priority':
    'Lowest priority of the pods that get this time; a pod takes the highest entry that it reaches',
  'shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds': 'Seconds that these pods get to terminate',
};
