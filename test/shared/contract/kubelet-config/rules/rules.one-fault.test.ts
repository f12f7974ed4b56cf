import { rules } from '../support/rule-table.ts';

rules('one fault is one finding', [
  [
    'a policy of the CPU manager',
    'cpuManagerPolicy: Static\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    '1.34',
    'unknown-value cpuManagerPolicy',
  ],
  [
    'a log format',
    'logging: {format: JSON, vmodule: [{filePattern: a, verbosity: 1}]}',
    '1.34',
    'unknown-value logging.format',
  ],
  [
    'a policy of image pulls',
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowedImages\npreloadedImagesVerificationAllowlist: [a.io/b]',
    '1.35',
    'unknown-value imagePullCredentialsVerificationPolicy',
  ],
  ['a percentage', 'imageGCHighThresholdPercent: -1', '1.34', 'out-of-range imageGCHighThresholdPercent'],
  ['the other percentage', 'imageGCLowThresholdPercent: 120', '1.34', 'out-of-range imageGCLowThresholdPercent'],
  [
    'a signal with a grace period',
    'evictionSoft: {memory.available: 5%}\nevictionSoftGracePeriod: {memory.avail: 1m}',
    '1.34',
    'unknown-signal evictionSoftGracePeriod["memory.avail"]',
  ],
  ['a signal without', 'evictionSoft: {memory.avail: 5%}', '1.34', 'unknown-signal evictionSoft["memory.avail"]'],
  ['a gate that is text', 'featureGates: {NodeSwap: "true"}', '1.34', 'wrong-type featureGates.NodeSwap'],
]);
