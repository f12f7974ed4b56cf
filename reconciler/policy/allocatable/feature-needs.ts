import { NEEDED_BY_PODS, type PodFeature } from '#shared/contract/kubelet-config/feature-gates/gate-cost.ts';
import { mapOf } from '#shared/runtime/maps.ts';
import { mapsIn } from './vital-pods.ts';

/** Pods that a kubelet admits only with one feature. */
export interface NeedingPods {
  /** `namespace/name` of the first few. */
  readonly names: readonly string[];
  readonly count: number;
}

export type FeatureNeeds = ReadonlyMap<PodFeature, NeedingPods>;

const MOST_NAMES = 3;

/**
 * Which pods need a feature, by their `spec`: `InferForScheduling` of k8s.io/component-helpers/nodedeclaredfeatures 1.35 to 1.37
 * (KEP-5328), by which kubelets with `NodeDeclaredFeatures` admit pods. The other features of that list infer nothing for it.
 */
const NEEDS: Readonly<Record<PodFeature, (spec: ReturnType<typeof mapOf>) => boolean>> = {
  RestartAllContainersOnContainerExits: (spec) =>
    [...mapsIn(spec['containers']), ...mapsIn(spec['initContainers'])].some((container) =>
      mapsIn(container['restartPolicyRules']).some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
  VolumeBindMountOptions: (spec) =>
    ['containers', 'initContainers', 'ephemeralContainers']
      .flatMap((list) => mapsIn(spec[list]))
      .some((container) =>
        mapsIn(container['volumeMounts']).some(
          ({ bindMountOptions: options }) => Array.isArray(options) && options.length > 0,
        ),
      ),
};

/** Which features pods of one node need, and which pods those are. */
export function featureNeeds(pods: readonly unknown[]): FeatureNeeds {
  const needs = new Map<PodFeature, NeedingPods>();
  for (const pod of pods.map(mapOf)) {
    const { name, namespace } = mapOf(pod['metadata']);
    for (const feature of NEEDED_BY_PODS) {
      if (!NEEDS[feature](mapOf(pod['spec']))) continue;
      const { names, count } = needs.get(feature) ?? { names: [], count: 0 };
      const named = `${String(namespace)}/${String(name)}`;
      needs.set(feature, { names: count < MOST_NAMES ? [...names, named] : names, count: count + 1 });
    }
  }
  return needs;
}
