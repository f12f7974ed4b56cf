import type { LoadedRepo } from '../config-repo/loaded-repo.ts';

/**
 * What one cluster reads of a commit, by the top of the folder that it follows: its own file, `pools/`, `base/`, and where layers lie.
 * Another commit that has the same there and names the same layers is the same to this cluster, whatever changed elsewhere.
 */
export interface OwnReads {
  readonly cluster: string;
  /** Names of files and folders at the top, in order. */
  readonly layersIn: readonly string[];
}

/** Only of a commit whose pools are all valid: no other says everything that it reads. */
export const readsOf = (cluster: string, { pools }: Pick<LoadedRepo, 'pools'>): OwnReads => {
  const layers = pools.flatMap((pool) => (pool.status === 'valid' ? pool.spec.layers : []));
  return { cluster, layersIn: [...new Set(layers.map((layer) => layer.split('/', 1).join()))].sort() };
};
