import type { ChangeCost } from '../fields/field.ts';

/**
 * Gates of features that running pods need and nodes declare (KEP-5328, component-helpers/nodedeclaredfeatures 1.37: those that
 * infer something for scheduling). A kubelet that comes up without one admits such pods no more: they end as Failed.
 */
const NEEDED_BY_PODS: ReadonlySet<string> = new Set([
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
  'VolumeBindMountOptions',
]);

/** Gates that change the form of the managers' state files, which are put aside then, whichever way they go. */
const CHANGE_STATE_FILES: ReadonlySet<string> = new Set(['PodLevelResourceManagers']);

/**
 * What it costs to change a gate on a live node.
 *
 * @param after as it would be written, `true`; undefined where it is left to its default
 */
export function gateCost(gate: string, after: string | undefined): ChangeCost {
  const isDrain = CHANGE_STATE_FILES.has(gate) || (NEEDED_BY_PODS.has(gate) && after !== 'true');
  return isDrain ? 'drain' : 'restart';
}
