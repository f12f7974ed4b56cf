/** Roles of nodes that run the control plane, as kubeadm, k3s, RKE and older releases write them; the newest first. */
export const CONTROL_PLANE_KEYS: readonly string[] = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
  'node-role.kubernetes.io/controlplane',
  'node-role.kubernetes.io/etcd',
];

/** By which providers and autoscalers divide a fleet, and what people call that provider. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['karpenter.sh/nodepool', 'karpenter'],
  ['karpenter.sh/provisioner-name', 'karpenter'],
  ['eks.amazonaws.com/nodegroup', 'eks'],
  ['alpha.eksctl.io/nodegroup-name', 'eks'],
  ['cloud.google.com/gke-nodepool', 'gke'],
  ['kubernetes.azure.com/agentpool', 'aks'],
  ['agentpool', 'aks'],
  ['kops.k8s.io/instancegroup', 'kops'],
  ['worker.gardener.cloud/pool', 'gardener'],
  ['doks.digitalocean.com/node-pool', 'digitalocean'],
  ['lke.linode.com/pool-id', 'linode'],
  ['k8s.scaleway.com/pool-name', 'scaleway'],
]);

/** In the order in which they count where a node has several. */
export const POOL_KEYS: readonly string[] = [...PROVIDERS.keys()];

/** What the pools of that label are called together; undefined for labels of an unknown provider. */
export const providerOf = (key: string): string | undefined => PROVIDERS.get(key);

export const HOSTNAME = 'kubernetes.io/hostname';
export const OS = 'kubernetes.io/os';

/** Words in the last part of a key by which people divide nodes on purpose. */
const TELLING = /pool|group|role|gpu|accelerator|dedicated|workload|purpose|tier|class|profile|team/;
const OF_THE_MACHINE = /^(?:node\.kubernetes\.io\/instance-type|kubernetes\.io\/(?:os|arch))$/;
/** Nodes share these by where they stand, or by what their processor can do: rarely why they are configured in some way. */
const INCIDENTAL = /^topology\.|\.csi\.|^feature\.node\.kubernetes\.io\/|\/(?:zone|region)$|^(?:zone|region)$/;
/** A node's own, or an old name of another label. */
const USELESS = /^(?:kubernetes\.io\/hostname$|beta\.kubernetes\.io\/|failure-domain\.beta\.kubernetes\.io\/)/;

/** From this rank on, one node with a label says nothing: it may have it by chance. */
export const LAST_DISTINCTIVE_RANK = 3;
const LAST_RANK = 5;

/**
 * How likely it is that nodes with this label were meant to be configured alike.
 *
 * @returns 0 for the most telling labels; undefined for those that say nothing of a group of nodes
 */
export function rankOf(key: string): number | undefined {
  if (USELESS.test(key)) return undefined;
  if (PROVIDERS.has(key)) return 0;
  if (key.startsWith('node-role.kubernetes.io/')) return 1;
  if (INCIDENTAL.test(key)) return LAST_RANK;
  if (TELLING.test(lastPart(key))) return 2;
  return OF_THE_MACHINE.test(key) ? LAST_DISTINCTIVE_RANK : LAST_RANK - 1;
}

/** `present` of `nvidia.com/gpu.present`'s last part `gpu.present` included. */
export const lastPart = (key: string): string => key.slice(key.indexOf('/') + 1).toLowerCase();
