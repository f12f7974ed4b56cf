import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';

/** The pool that a repository begins with. */
export interface FirstPool {
  readonly name: string;
  /** A label of its nodes: `key`, or `key=value`. */
  readonly selector: string;
}

export interface Choices {
  readonly cluster: string;
  /** Minor versions of its kubelets; those of the template where there is none. */
  readonly minors: readonly number[];
  /** In place of the template's pools. */
  readonly pool?: FirstPool | undefined;
}

/** The template's cluster, the version that its layers name, and the pool that explains each key. */
const [CLUSTER, MINOR, POOL] = ['demo', 34, 'general'] as const;

/**
 * The template's cluster, pools and layers with the names filled in, and the names of their schemas. What one of the kubelets does not
 * know is left out, because it would be refused. Pure.
 *
 * @param template path in the template → text
 */
export function firstRepository(
  template: ReadonlyMap<string, string>,
  { cluster, minors, pool }: Choices,
): { readonly files: ReadonlyMap<string, string>; readonly schemas: readonly string[] } {
  const versions = minors.length === 0 ? [MINOR] : minors;
  const schema = `kubelet-configuration-${minorName(Math.min(...versions, NEWEST_MINOR))}.json`;
  const files = [...template]
    .filter(([path]) => /^(?:base|clusters|pools)\//.test(path))
    .filter(([path]) => pool === undefined || !path.startsWith('pools/') || path.startsWith(`pools/${POOL}/`))
    .map(([path, text]): [string, string] => {
      if (path === `clusters/${CLUSTER}.yaml`) return [`clusters/${cluster}.yaml`, clusterFile(text, versions)];
      if (pool !== undefined && path.startsWith(`pools/${POOL}/`)) {
        const [, file = ''] = path.split(`/${POOL}/`);
        const own = `pools/${pool.name}/${file}`;
        return [own, file === 'pool.yaml' ? withSelector(text, pool.selector) : layer(text, schema, versions)];
      }
      return [path, path.endsWith('/pool.yaml') ? text : layer(text, schema, versions)];
    });
  return { files: new Map(files), schemas: ['cluster-config.json', 'kubelet-pool.json', schema] };
}

function clusterFile(text: string, minors: readonly number[]): string {
  const versions = minors.map((minor) => `"${minorName(minor)}"`).join(', ');
  const head = [
    "# What one cluster needs to know beyond its pools. The file's name is the cluster's: the reconciler has it as CLUSTER. Where several",
    '# clusters follow this repository, each has a file of its own here; a reconciler reads only the one with its name.',
  ];
  return text
    .replace(/^# What one cluster needs to know[\s\S]*?(?=^apiVersion: )/m, `${head.join('\n')}\n`)
    .replace(/^( +kubeletVersions: ).*$/m, `$1[${versions}]`);
}

const layer = (text: string, schema: string, minors: readonly number[]): string =>
  text
    .replace(/\.schemas\/kubelet-configuration-[\d.]+\.json/, `.schemas/${schema}`)
    .split('\n')
    .filter((line) => {
      const field = FIELDS.get(/^(\w+): /.exec(line)?.[1] ?? '');
      return field === undefined || minors.every((minor) => existsIn(field, minor));
    })
    .join('\n');

function withSelector(text: string, selector: string): string {
  const [key = '', value] = selector.split('=');
  const lines =
    value === undefined
      ? ['    matchExpressions:', `      - key: ${JSON.stringify(key)}`, '        operator: Exists']
      : ['    matchLabels:', `      ${JSON.stringify(key)}: ${JSON.stringify(value)}`];
  const block = ['  # As in Kubernetes; all of it must hold.', '  nodeSelector:', ...lines, '', ''].join('\n');
  return text.replace(/^ {2}# As in Kubernetes[\s\S]*?\n\n/m, block);
}
