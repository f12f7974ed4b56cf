import type { KubeObject } from '#shared/contract/api/object.ts';

/** A pod as far as a drain looks at it. */
export interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string };
}

/**
 * Whether a pod has to leave before its node is drained, by the rules of `kubectl drain --delete-emptydir-data --force`:
 * finished pods and those that the node itself or a DaemonSet keeps there stay. (kubectl 1.34, pkg/drain/filters.go)
 */
export function mustBeEvicted(pod: Pod): boolean {
  const { metadata } = pod;
  const isMirror = metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
  const isDaemon = metadata.ownerReferences?.some(
    ({ kind, controller }) => kind === 'DaemonSet' && controller === true,
  );
  return !isFinished(pod) && !isMirror && isDaemon !== true;
}

/** It takes no room any more. */
export const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** A pod that is terminating already needs no second eviction. */
export const isTerminating = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;
