import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const CLUSTER = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: ClusterConfig
spec:
  kubeletVersions: ["1.33", "1.34"]
`;

const COMMON = `${HEAD}# What every node runs.
serializeImagePulls: false
maxParallelImagePulls: 5
containerLogMaxSize: 50Mi
containerLogMaxFiles: 3
shutdownGracePeriod: 60s
shutdownGracePeriodCriticalPods: 20s
`;

const poolFile = (name: string): string => `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
metadata:
  name: ${name}
spec:
  nodeSelector:
    matchLabels:
      pool: ${name}
  layers:
    - base/common.yaml
    - kubelet.yaml
  rollout:
    maxUnavailable: 5%
    soak: 2m
`;

/** As long as a team's own file is: thirty lines, with comments. */
const kubeletFile = (index: number): string => `${HEAD}# Pool ${index}: machines with ${index % 7} GPUs.
maxPods: ${100 + (index % 150)}
podPidsLimit: 4096
imageGCHighThresholdPercent: 80
imageGCLowThresholdPercent: 70
cpuManagerPolicy: none
topologyManagerPolicy: best-effort
systemReserved:
  cpu: 500m
  memory: 1Gi
  ephemeral-storage: 2Gi
kubeReserved:
  cpu: ${200 + (index % 10)}m
  memory: 512Mi
evictionHard:
  memory.available: 200Mi
  nodefs.available: 10%
  imagefs.available: 15%
evictionSoft:
  memory.available: 500Mi
evictionSoftGracePeriod:
  memory.available: 1m30s
featureGates:
  NodeSwap: true
memorySwap:
  swapBehavior: NoSwap
failSwapOn: false
`;

/** A config repository of so many pools, each with a layer of its own over a common one. */
export async function writeConfigRepo(directory: string, pools: number): Promise<void> {
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(directory, path, '..'), { recursive: true });
    await writeFile(join(directory, path), text);
  };
  await write('clusters/prod.yaml', CLUSTER);
  await write('base/common.yaml', COMMON);
  for (let index = 0; index < pools; index += 1) {
    const name = `pool-${index}`;
    await write(`pools/${name}/pool.yaml`, poolFile(name));
    await write(`pools/${name}/kubelet.yaml`, kubeletFile(index));
  }
}
