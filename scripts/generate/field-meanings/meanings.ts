import { CLUSTER_MEANINGS } from './cluster.ts';
import { EVICTION_MEANINGS } from './eviction.ts';
import { IMAGES_MEANINGS } from './images.ts';
import { LOGGING_MEANINGS } from './logging.ts';
import { PODS_MEANINGS } from './pods.ts';
import { RESOURCES_MEANINGS } from './resources.ts';
import { SERVING_MEANINGS } from './serving.ts';

/**
 * What the fields mean, by path. For editors and the reference alone: nothing that runs in a cluster says it, so it is apart
 * from the table of fields, which the programs carry.
 */
const MEANINGS: Readonly<Record<string, string>> = {
  ...SERVING_MEANINGS,
  ...CLUSTER_MEANINGS,
  ...IMAGES_MEANINGS,
  ...RESOURCES_MEANINGS,
  ...EVICTION_MEANINGS,
  ...PODS_MEANINGS,
  ...LOGGING_MEANINGS,
};

/** What a field of the table means: a sentence without a full stop. */
export const meaningOf = (path: string): string => MEANINGS[path] ?? '';
