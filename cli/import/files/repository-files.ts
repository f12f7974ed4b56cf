import { API_VERSION } from '#shared/contract/api/group.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { splitFormula } from '../formulas.ts';
import type { Grouped, NodeGroup } from '../pools/group-nodes.ts';
import { counted, firstNames } from '../format-lists.ts';
import { COMPUTED_SCHEMA, emptyLayer, type LayerFile, layerFiles, schemaLine, yaml } from './layer-files.ts';

/** Minor versions of the nodes that say theirs, by the node's name: 34 for 1.34. */
type Minors = ReadonlyMap<string, number>;

/** A repository that says what the nodes run already: path → text. */
export function repositoryFiles(grouped: Grouped, cluster: string, minors: Minors): ReadonlyMap<string, string> {
  const { groups } = grouped;
  const schemaFor = (nodes: readonly string[]): string => kubeletSchema(oldest(nodes, minors));
  const nodesOf = (pools: readonly string[]): readonly string[] =>
    groups.flatMap(({ name, nodes }) => (pools.includes(name) ? nodes : []));
  const common = layerFiles(grouped.common, {
    stem: 'base/common',
    about: 'What all nodes have beside the kubelet’s defaults. A change here changes every pool.',
    schema: schemaFor(groups.flatMap(({ nodes }) => nodes)),
  });
  const shared = new Map(
    grouped.shared.map(({ name, config, pools }) => {
      const about = `What these pools share: ${firstNames(pools, 12)}.`;
      return [name, layerFiles(config, { stem: `base/${name}`, about, schema: schemaFor(nodesOf(pools)) })] as const;
    }),
  );
  const files = [
    { path: `clusters/${cluster}.yaml`, text: clusterFile(cluster, minors) },
    ...common,
    ...[...shared.values()].flat(),
    ...groups.flatMap((group) => {
      const base = [...common, ...group.shared.flatMap((name) => shared.get(name) ?? [])];
      const own = ownLayers(group, base, schemaFor(group.nodes));
      return [{ path: `pools/${group.name}/pool.yaml`, text: poolFile(group, base, own) }, ...own];
    }),
  ];
  return new Map(files.map(({ path, text }) => [path, text]));
}

/** A pool needs a layer; an empty one says that nothing differs. */
function ownLayers({ name, own }: NodeGroup, base: readonly LayerFile[], schema: string): readonly LayerFile[] {
  const place = { stem: `pools/${name}/kubelet`, about: `What only the nodes of ${name} have.`, schema };
  const files = layerFiles(own, place);
  return files.length + base.length === 0 ? [emptyLayer(place)] : files;
}

/** The schemas that the first lines name, by their names in `.schemas/`. */
export function schemaNames({ common, shared, groups }: Grouped, minors: Minors): readonly string[] {
  const kubelets = groups.map(({ nodes }) => kubeletSchema(oldest(nodes, minors)));
  const layers = [common, ...shared.map(({ config }) => config), ...groups.map(({ own }) => own)];
  const computed = layers.some((config) => splitFormula(config).profile !== undefined) ? [COMPUTED_SCHEMA] : [];
  return [...new Set(['cluster-config.json', 'kubelet-pool.json', ...kubelets, ...computed])].sort();
}

/** What an older kubelet does not know must not be written for it. */
const oldest = (nodes: readonly string[], minors: Minors): number =>
  nodes.reduce((least, name) => Math.min(least, minors.get(name) ?? NEWEST_MINOR), NEWEST_MINOR);

const kubeletSchema = (minor: number): string => `kubelet-configuration-${minorName(minor)}.json`;

function clusterFile(cluster: string, minors: Minors): string {
  const kubeletVersions = [...new Set(minors.values())].sort((a, b) => a - b).map(minorName);
  const spec = kubeletVersions.length === 0 ? {} : { spec: { kubeletVersions } };
  const text = yaml({ apiVersion: API_VERSION, kind: 'ClusterConfig', metadata: { name: cluster }, ...spec });
  return `${schemaLine('../', 'cluster-config.json')}${text}`;
}

/** Its name is that of its folder: who renames that renames the pool. */
function poolFile(group: NodeGroup, base: readonly LayerFile[], own: readonly LayerFile[]): string {
  const { nodes, nodeSelector, priority } = group;
  const layers = [...base.map(({ path }) => path), ...own.map(({ path }) => `.${path.slice(path.lastIndexOf('/'))}`)];
  const ranked = priority === 0 ? {} : { priority };
  const spec = { nodeSelector, ...ranked, layers, rollout: { maxUnavailable: 1 } };
  const text = yaml({ apiVersion: API_VERSION, kind: 'KubeletPool', spec });
  const notes = [
    `${counted(nodes.length, 'node')} when it was imported: ${firstNames(nodes)}`,
    ...(group.isByName ? ['No label tells these nodes from the others: new nodes do not join them.'] : []),
    ...(group.excluded > 0
      ? [
          `The selector leaves out ${counted(group.excluded, 'node')} whose config was not known: see kubernetes.io/hostname.`,
        ]
      : []),
  ];
  return `${schemaLine('../../', 'kubelet-pool.json')}${notes.map((note) => `# ${note}\n`).join('')}${text}`;
}
