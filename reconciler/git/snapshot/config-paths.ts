const ROOTS: ReadonlySet<string> = new Set(['clusters', 'base', 'pools']);

/**
 * Whether a path of the repository is one of configuration: everything in `clusters/`, `base/` and `pools/`, and YAML
 * or JSON anywhere else, because a pool may name any file as a layer.
 */
export function isConfigPath(path: string): boolean {
  const [root = ''] = path.split('/', 1);
  return ROOTS.has(root) || /\.(?:ya?ml|json)$/i.test(path);
}
