import type { Fields } from './field.ts';

/** When the kubelet evicts pods, and how it shuts a node down. */
export const EVICTION_FIELDS = {
  evictionHard: {
    kind: 'string-map',
    default: {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    },
    defaultBefore: {
      30: {
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
        'imagefs.available': '15%',
      },
    },
    note: 'evictions',
  },
  evictionSoft: { kind: 'string-map', note: 'evictions' },
  evictionSoftGracePeriod: { kind: 'string-map', note: 'evictions' },
  evictionPressureTransitionPeriod: { kind: 'duration', default: '5m', note: 'evictions' },
  evictionMaxPodGracePeriod: { kind: 'int32', note: 'evictions' },
  evictionMinimumReclaim: { kind: 'string-map', note: 'evictions' },
  mergeDefaultEvictionSettings: { kind: 'bool', since: 33, pointer: true, default: false, note: 'evictions' },
  shutdownGracePeriod: { kind: 'duration', default: '0s', note: 'logind' },
  shutdownGracePeriodCriticalPods: { kind: 'duration', default: '0s', note: 'logind' },
  shutdownGracePeriodByPodPriority: { kind: 'struct-list', since: 23, note: 'logind' },
  'shutdownGracePeriodByPodPriority[].priority': { kind: 'int32', since: 23 },
  'shutdownGracePeriodByPodPriority[].shutdownGracePeriodSeconds': { kind: 'int64', since: 23 },
} as const satisfies Fields;
