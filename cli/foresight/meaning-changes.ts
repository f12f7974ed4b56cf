import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';

/** A value that stays in the file and does something else from one minor on. */
interface MeaningChange {
  readonly field: string;
  /** First minor that reads it the new way. */
  readonly since: number;
  /** Whether a config, seen as a kubelet of `since` sees it, has it. */
  readonly isIn: (config: ConfigView) => boolean;
  readonly before: string;
  readonly after: string;
}

/** From the release notes of Kubernetes, by minor. */
export const MEANING_CHANGES: readonly MeaningChange[] = [
  {
    field: 'eventRecordQPS',
    since: 37,
    // kubernetes/kubernetes#117119
    isIn: (config) => config.number('eventRecordQPS') === 0,
    before: '0 was the default, 50 Events a second',
    after: '0 means no limit: the node writes as many Events as it likes',
  },
  {
    field: 'memoryThrottlingFactor',
    since: 37,
    // kubernetes/kubernetes#140007: MemoryQoS is on by default.
    isIn: (config) =>
      config.isSet('memoryThrottlingFactor') && config.gate('MemoryQoS') && !config.isSet('featureGates.MemoryQoS'),
    before: 'without the gate MemoryQoS it did nothing',
    after: 'the gate is on by default: containers of Burstable pods are throttled at this share of their memory limit',
  },
];
