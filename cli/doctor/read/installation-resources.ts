import type { Resource } from '#shared/kube/kube.ts';

/** What only operators look at; the programs themselves have no right to any of it. */
export const DEPLOYMENTS: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
export const DAEMON_SETS: Resource = { ...DEPLOYMENTS, plural: 'daemonsets', kind: 'DaemonSet' };
export const SERVICES: Resource = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
export const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** Names of what `deploy/` makes in the namespace. */
export const RECONCILER = 'kubelet-gitops-reconciler';
export const AGENT = 'kubelet-gitops-agent';
/** On k3s and RKE2, whose servers run their kubelet in another unit. */
export const AGENT_OF_SERVERS = 'kubelet-gitops-agent-servers';
export const WEBHOOK_SERVICE = 'kubelet-gitops-webhook';
export const OUR_PODS = 'app.kubernetes.io/name=kubelet-gitops';
export const COMPONENT_LABEL = 'app.kubernetes.io/component';
