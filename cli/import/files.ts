import { stringify } from 'yaml';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { RunningFields } from './essence.ts';
import type { Grouped } from './group.ts';

/** A repository that says what the nodes run already: path → text. */
export function repositoryFiles(
  { common, groups }: Grouped,
  cluster: string,
  kubeletVersions: readonly string[],
): ReadonlyMap<string, string> {
  const hasCommon = Object.keys(common).length > 0;
  const files: [string, string][] = [
    [
      `clusters/${cluster}.yaml`,
      yaml({ apiVersion: API_VERSION, kind: 'ClusterConfig', metadata: { name: cluster }, spec: { kubeletVersions } }),
    ],
  ];
  if (hasCommon)
    files.push(['base/common.yaml', layer(common, 'Fields that differ from the kubelet’s defaults on all nodes.')]);
  for (const { name, own, nodes, nodeSelector } of groups) {
    const isEmpty = Object.keys(own).length === 0;
    // A pool needs a layer; an empty one says that nothing differs.
    const hasOwn = !isEmpty || !hasCommon;
    const layers = [...(hasCommon ? ['base/common.yaml'] : []), ...(hasOwn ? ['./kubelet.yaml'] : [])];
    const spec = { nodeSelector, layers, rollout: { maxUnavailable: 1 } };
    const pool = { apiVersion: API_VERSION, kind: 'KubeletPool', metadata: { name }, spec };
    files.push([
      `pools/${name}/pool.yaml`,
      `# ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'} when it was imported: ${shortList(nodes)}\n${yaml(pool)}`,
    ]);
    if (hasOwn) files.push([`pools/${name}/kubelet.yaml`, layer(own, `Further fields of the nodes of ${name}.`)]);
  }
  return new Map(files);
}

function layer(config: RunningFields, comment: string): string {
  return `# ${comment}\n${yaml({ apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND, ...config })}`;
}

/** In YAML 1.1, as the kubelet reads it: words like `yes` are quoted. */
const yaml = (value: unknown): string => stringify(value, { version: '1.1', lineWidth: 0 });

const shortList = (names: readonly string[]): string =>
  names.length <= 6 ? names.join(', ') : `${names.slice(0, 6).join(', ')} …`;
