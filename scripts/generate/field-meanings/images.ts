import type { IMAGES_FIELDS } from '#shared/contract/kubelet-config/fields/images.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const IMAGES_MEANINGS: MeaningsOf<typeof IMAGES_FIELDS> = {
  containerRuntimeEndpoint: 'Socket of the container runtime',
  imageServiceEndpoint: 'Socket of the image service; if empty, that of the container runtime',
  runtimeRequestTimeout: 'How long a call to the container runtime may take, except pulls, logs, exec and attach',
  registryPullQPS: 'Image pulls per second, on average; 0 for no limit',
  registryBurst: 'Image pulls that may start at once, beyond registryPullQPS',
  serializeImagePulls: 'Pulls one image at a time',
  maxParallelImagePulls: 'How many images are pulled at the same time; needs serializeImagePulls: false',
  imageMinimumGCAge: 'Age from which an unused image may be deleted when the disk fills',
  imageMaximumGCAge: 'How long an image may be unused before it is deleted even on an empty disk; 0 for no limit',
  imageGCHighThresholdPercent: 'Disk usage in percent above which unused images are deleted',
  imageGCLowThresholdPercent: 'Disk usage in percent at which deleting images stops',
  imagePullCredentialsVerificationPolicy:
    'When a pod has to show its own pull credentials for an image that is already on the node',
  preloadedImagesVerificationAllowlist:
    'Preloaded images that pods may use without credentials, under NeverVerifyAllowlistedImages',
  containerLogMaxSize: 'Size at which a container’s log file is rotated',
  containerLogMaxFiles: 'How many log files are kept for each container',
  containerLogMaxWorkers: 'How many container logs are rotated at the same time',
  containerLogMonitorInterval: 'How often the size of container logs is checked',
  podLogsDir: 'Directory in which the logs of pods are kept',
};
