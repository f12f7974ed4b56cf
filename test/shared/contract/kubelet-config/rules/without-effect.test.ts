import { rules } from '../support/rule-table.ts';

rules('what never has effect because of something else', [
  [
    'eviction comes before the collection of images',
    'imageGCHighThresholdPercent: 95',
    '?no-effect imageGCHighThresholdPercent',
  ],
  ['the collection comes first by default', 'imageGCHighThresholdPercent: 85', ''],
  [
    'which the threshold may change',
    'evictionHard: {imagefs.available: 20%}',
    '?no-effect evictionHard["imagefs.available"]',
  ],
  ['100 % is no collection, on purpose', 'imageGCHighThresholdPercent: 100', ''],
  [
    'a size is not compared with a share',
    'imageGCHighThresholdPercent: 95\nevictionHard: {imagefs.available: 1Gi}',
    '',
  ],
  [
    'a threshold that is off evicts nothing',
    'imageGCHighThresholdPercent: 95\nevictionHard: {imagefs.available: 0%}',
    '',
  ],
  [
    'a soft threshold is above the hard one',
    'evictionSoft: {memory.available: 100Mi}\nevictionSoftGracePeriod: {memory.available: 1m}',
    '?no-effect evictionSoft["memory.available"]',
  ],
  ['and works there', 'evictionSoft: {memory.available: 101Mi}\nevictionSoftGracePeriod: {memory.available: 1m}', ''],
  [
    'shares are compared as well',
    'evictionHard: {pid.available: 10%}\nevictionSoft: {pid.available: 9.5%}\nevictionSoftGracePeriod: {pid.available: 1m}',
    '?no-effect evictionSoft["pid.available"]',
  ],
]);

rules(
  'what the node’s own config may give effect',
  [
    ['a collection, by other thresholds', 'imageGCHighThresholdPercent: 95', ''],
    [
      'a soft threshold, by a lower hard one',
      'evictionSoft: {memory.available: 50Mi}\nevictionSoftGracePeriod: {memory.available: 1m}',
      '',
    ],
  ],
  'overlay',
);
