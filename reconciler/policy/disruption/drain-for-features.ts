import type { PodFeature } from '#shared/contract/kubelet-config/feature-gates/gate-cost.ts';
import type { FeatureNeeds, NeedingPods } from '../allocatable/feature-needs.ts';
import type { Disruption } from './field-disruption.ts';

/**
 * A disruption as it is for a node of which the pods are known: where a feature goes off that none of them needs, a restart is
 * enough, and where some do, they are named.
 *
 * @param declares features that the Node declares; undefined for none, and for a kubelet that is too old
 * @param needs    undefined without the right to read its pods
 */
export function drainForFeatures(
  disruption: Disruption,
  declares: readonly string[] | undefined,
  needs: FeatureNeeds | undefined,
): Disruption {
  const { features, ...rest } = disruption;
  if (features === undefined || needs === undefined) return disruption;
  const lost = features.flatMap((feature) => {
    const pods = needs.get(feature);
    // What the Node does not declare, its kubelet does not admit by.
    return pods === undefined || declares?.includes(feature) === false ? [] : [sayNeeded(feature, pods)];
  });
  return lost.length === 0 ? { ...rest, class: 'restart', fields: [] } : { ...disruption, fields: lost };
}

/** `featureGates.X (needed by prod/a, prod/b, prod/c and 2 more)`. */
function sayNeeded(feature: PodFeature, { names, count }: NeedingPods): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return `featureGates.${feature} (needed by ${names.join(', ')}${more})`;
}
