import type { Fields } from './field.ts';

/** Images, the container runtime and its logs. */
export const IMAGES_FIELDS = {
  containerRuntimeEndpoint: {
    kind: 'string',
    since: 27,
    default: 'unix:///run/containerd/containerd.sock',
    cost: 'drain',
    note: 'runtime-must-match',
  },
  imageServiceEndpoint: { kind: 'string', since: 27, note: 'runtime-must-match' },
  runtimeRequestTimeout: { kind: 'duration', default: '2m' },
  registryPullQPS: { kind: 'int32', pointer: true, default: 5, min: 0, note: 'registry-traffic' },
  registryBurst: { kind: 'int32', default: 10, min: 0, note: 'registry-traffic' },
  serializeImagePulls: { kind: 'bool', pointer: true, default: true, note: 'registry-traffic' },
  maxParallelImagePulls: { kind: 'int32', since: 27, pointer: true, min: 1, note: 'registry-traffic' },
  imageMinimumGCAge: { kind: 'duration', default: '2m', note: 'image-gc' },
  imageMaximumGCAge: { kind: 'duration', since: 29, default: '0s', note: 'image-gc' },
  imageGCHighThresholdPercent: { kind: 'int32', pointer: true, default: 85, min: 0, max: 100, note: 'image-gc' },
  imageGCLowThresholdPercent: { kind: 'int32', pointer: true, default: 80, min: 0, max: 100, note: 'image-gc' },
  imagePullCredentialsVerificationPolicy: {
    kind: 'string',
    since: 33,
    default: 'NeverVerifyPreloadedImages',
    values: ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'],
    gate: 'KubeletEnsureSecretPulledImages',
    note: 'image-credentials',
  },
  preloadedImagesVerificationAllowlist: { kind: 'string-list', since: 33, note: 'image-credentials' },
  containerLogMaxSize: { kind: 'string', default: '10Mi', note: 'loses-logs' },
  containerLogMaxFiles: { kind: 'int32', pointer: true, default: 5, min: 2, note: 'loses-logs' },
  containerLogMaxWorkers: { kind: 'int32', since: 30, pointer: true, default: 1, min: 1 },
  containerLogMonitorInterval: { kind: 'duration', since: 30, pointer: true, default: '10s' },
  podLogsDir: { kind: 'string', since: 30, default: '/var/log/pods', cost: 'drain', note: 'loses-logs' },
} as const satisfies Fields;
