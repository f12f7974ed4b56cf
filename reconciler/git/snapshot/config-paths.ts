const ROOTS: ReadonlySet<string> = new Set(['clusters', 'base', 'pools']);

/**
 * Whether a path of the repository is one of configuration: `clusters/`, `base/` and `pools/` with everything in them. Of what lies
 * elsewhere, only the layers that a `pool.yaml` names are read (`layersElsewhere`).
 */
export const isConfigPath = (path: string): boolean => ROOTS.has(path.split('/', 1)[0] ?? '');
