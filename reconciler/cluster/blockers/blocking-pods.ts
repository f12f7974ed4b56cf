import type { BlockersSpec, LabelRequirement, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Selection, Trim } from '#shared/kube/kube.ts';
import { PODS } from '#shared/kube/kube.ts';

type PodsSpec = NonNullable<BlockersSpec['pods']>;

/** The pods that must not run: those that have not ended, of one namespace or of all. */
export function podSelection({ namespace, selector }: PodsSpec): Selection {
  const labelSelector = selectorText(selector);
  return {
    resource: PODS,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === '' ? {} : { labelSelector }),
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
  };
}

interface PlacedPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string | undefined };
}

/** As much of a pod as is looked at: a selector may fit all pods of a large cluster. */
export const trimPod: Trim<PlacedPod> = ({ metadata: { name, namespace }, spec }) => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec: { nodeName: spec?.nodeName },
});

/** Which nodes have one of them, and why that keeps them from being changed. A pod without a node blocks none. */
export function nodesWithBlockingPods(pods: readonly PlacedPod[]): ReadonlyMap<string, string> {
  return new Map(
    pods.flatMap(({ metadata, spec }) => {
      const { name, namespace = '' } = metadata;
      return spec?.nodeName === undefined || spec.nodeName === ''
        ? []
        : [[spec.nodeName, `the pod ${namespace}/${name} runs there, which blockers.pods waits for`] as const];
    }),
  );
}

/** A selector as the API's queries have it: `app=backup,tier in (a,b),!done`. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...matchExpressions.map(requirementText)].join(',');
}

function requirementText({ key, operator, values = [] }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}
