import { stringify } from 'yaml';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from '#shared/contract/kubelet-config/decode/decode.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { RunningFields } from '../essence.ts';
import type { Grouped, NodeGroup } from '../pools/group.ts';
import { counted, firstNames } from '../say.ts';

/** Minor versions of the nodes that say theirs, by the node's name: 34 for 1.34. */
export type Minors = ReadonlyMap<string, number>;

/** A repository that says what the nodes run already: path → text. */
export function repositoryFiles(grouped: Grouped, cluster: string, minors: Minors): ReadonlyMap<string, string> {
  const { common, shared, groups } = grouped;
  const hasCommon = !isEmpty(common);
  const schemaFor = (nodes: readonly string[]): string => kubeletSchema(oldest(nodes, minors));
  const nodesOf = (pools: readonly string[]): readonly string[] =>
    groups.flatMap(({ name, nodes }) => (pools.includes(name) ? nodes : []));
  const files: [string, string][] = [[`clusters/${cluster}.yaml`, clusterFile(cluster, minors)]];
  if (hasCommon) {
    const about = 'What all nodes have beside the kubelet’s defaults. A change here changes every pool.';
    files.push(['base/common.yaml', layer(common, about, schemaFor(groups.flatMap(({ nodes }) => nodes)), '../')]);
  }
  for (const { name, config, pools } of shared) {
    const about = `What these pools share: ${firstNames(pools, 12)}.`;
    files.push([`base/${name}.yaml`, layer(config, about, schemaFor(nodesOf(pools)), '../')]);
  }
  for (const group of groups) {
    files.push([`pools/${group.name}/pool.yaml`, poolFile(group, hasCommon)]);
    if (!hasOwnLayer(group, hasCommon)) continue;
    const about = `What only the nodes of ${group.name} have.`;
    files.push([`pools/${group.name}/kubelet.yaml`, layer(group.own, about, schemaFor(group.nodes), '../../')]);
  }
  return new Map(files);
}

/** The schemas that the first lines name, by their names in `.schemas/`. */
export function schemaNames({ groups }: Grouped, minors: Minors): readonly string[] {
  const kubelets = groups.map(({ nodes }) => kubeletSchema(oldest(nodes, minors)));
  return [...new Set(['cluster-config.json', 'kubelet-pool.json', ...kubelets])].sort();
}

/** What an older kubelet does not know must not be written for it. */
const oldest = (nodes: readonly string[], minors: Minors): number =>
  nodes.reduce((least, name) => Math.min(least, minors.get(name) ?? NEWEST_MINOR), NEWEST_MINOR);

const kubeletSchema = (minor: number): string => `kubelet-configuration-${minorName(minor)}.json`;

/** A pool needs a layer; an empty one says that nothing differs. */
const hasOwnLayer = ({ own, shared }: NodeGroup, hasCommon: boolean): boolean =>
  !isEmpty(own) || (!hasCommon && shared.length === 0);

function clusterFile(cluster: string, minors: Minors): string {
  const kubeletVersions = [...new Set(minors.values())].sort((a, b) => a - b).map(minorName);
  const spec = kubeletVersions.length === 0 ? {} : { spec: { kubeletVersions } };
  const text = yaml({ apiVersion: API_VERSION, kind: 'ClusterConfig', metadata: { name: cluster }, ...spec });
  return `${schemaLine('../', 'cluster-config.json')}${text}`;
}

function poolFile(group: NodeGroup, hasCommon: boolean): string {
  const { name, nodes, nodeSelector, priority } = group;
  const layers = [
    ...(hasCommon ? ['base/common.yaml'] : []),
    ...group.shared.map((shared) => `base/${shared}.yaml`),
    ...(hasOwnLayer(group, hasCommon) ? ['./kubelet.yaml'] : []),
  ];
  const ranked = priority === 0 ? {} : { priority };
  const spec = { nodeSelector, ...ranked, layers, rollout: { maxUnavailable: 1 } };
  const text = yaml({ apiVersion: API_VERSION, kind: 'KubeletPool', metadata: { name }, spec });
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

function layer(config: RunningFields, about: string, schema: string, up: string): string {
  const text = yaml({ apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND, ...config });
  return `${schemaLine(up, schema)}# ${about}\n${text}`;
}

/** As the template has it, for the YAML language server. */
const schemaLine = (up: string, schema: string): string => `# yaml-language-server: $schema=${up}.schemas/${schema}\n`;

/** In YAML 1.1, as the kubelet reads it: words like `yes` are quoted. */
const yaml = (value: unknown): string =>
  stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });

const isEmpty = (config: RunningFields): boolean => Object.keys(config).length === 0;
