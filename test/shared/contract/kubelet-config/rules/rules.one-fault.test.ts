import { rules } from '../support/rule-table.ts';

rules('one fault is one finding', [
  [
    'a policy of the CPU manager',
    'cpuManagerPolicy: Static\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}',
    'unknown-value',
  ],
  ['a log format', 'logging: {format: JSON, vmodule: [{filePattern: a, verbosity: 1}]}', 'unknown-value .format'],
  [
    'a policy of image pulls',
    'imagePullCredentialsVerificationPolicy: NeverVerifyAllowedImages\npreloadedImagesVerificationAllowlist: [a.io/b]',
    'unknown-value',
    '1.35',
  ],
  ['a percentage', 'imageGCHighThresholdPercent: -1', 'out-of-range'],
  ['the other percentage', 'imageGCLowThresholdPercent: 120', 'out-of-range'],
  [
    'a signal with a grace period',
    'evictionSoftGracePeriod: {memory.avail: 1m}\nevictionSoft: {memory.available: 5%}',
    'unknown-signal ["memory.avail"]',
  ],
  ['a signal without', 'evictionSoft: {memory.avail: 5%}', 'unknown-signal ["memory.avail"]'],
  ['a gate that is text', 'featureGates: {NodeSwap: "true"}', 'wrong-type .NodeSwap'],
]);
