import { clusterWide, namespaced } from '#shared/kube/kube.ts';

/** What only operators look at; the programs themselves have no right to any of it. */
export const DEPLOYMENTS = namespaced('apps/v1', 'Deployment');
export const DAEMON_SETS = namespaced('apps/v1', 'DaemonSet');
export const SERVICES = namespaced('v1', 'Service');
export const CRDS = clusterWide('apiextensions.k8s.io/v1', 'CustomResourceDefinition');

/** Names of what `deploy/` makes in the namespace. */
export const RECONCILER = 'kubelet-gitops-reconciler';
export const AGENT = 'kubelet-gitops-agent';
export const WEBHOOK_SERVICE = 'kubelet-gitops-webhook';
export const OUR_PODS = 'app.kubernetes.io/name=kubelet-gitops';
export const COMPONENT_LABEL = 'app.kubernetes.io/component';
/** DaemonSets of agents: one more for servers on some distributions, and for nodes of each other distribution. */
export const OUR_AGENTS = `${OUR_PODS},${COMPONENT_LABEL}=agent`;
