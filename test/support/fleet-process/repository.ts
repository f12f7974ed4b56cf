/** What all pools of the fleet have in common; a change of it touches every node. */
export const BASE = 'base/kubelet.yaml';

export function baseFile(maxPods: number): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: ${maxPods}
serializeImagePulls: false
containerLogMaxFiles: 5
evictionHard:
  memory.available: 200Mi
  nodefs.available: 10%
`;
}

/** Names under which reconcilers follow it. */
const CLUSTERS = ['bench', 'chaos'];
const CLUSTER_FILE = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: ClusterConfig
spec: {maxChange: 100%, trial: {minDuration: 2s}}
`;

/** How fast each pool goes on; durations as `pool.yaml` has them. */
export interface Pace {
  /** Default: 10m. */
  readonly trial?: string;
  readonly probation?: string;
}

/** A repository of so many pools over one base layer. @param maxUnavailable of each pool */
export function fleetFiles(
  pools: number,
  maxPods: number,
  maxUnavailable: string,
  { trial = '10m', probation }: Pace = {},
): Readonly<Record<string, string>> {
  const files: Record<string, string> = { [BASE]: baseFile(maxPods) };
  // Whoever asks changes the layer of all pools.
  for (const name of CLUSTERS) files[`clusters/${name}.yaml`] = CLUSTER_FILE;
  for (let index = 0; index < pools; index += 1) {
    const name = `pool-${String(index).padStart(2, '0')}`;
    files[`pools/${name}/pool.yaml`] = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector:
    matchLabels:
      pool: ${name}
  layers: [base/kubelet.yaml]
  rollout:
    maxUnavailable: "${maxUnavailable}"
    soak: 0s
${probation === undefined ? '' : `    probation: ${probation}\n`}  trial:
    duration: ${trial}
`;
  }
  return files;
}
