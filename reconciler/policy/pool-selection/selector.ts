import type { LabelRequirement, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';

type Labels = Readonly<Record<string, string>>;

/** `metav1.LabelSelector` against a node's labels: every requirement must hold; an empty selector matches every node. */
export function selectorMatches(selector: LabelSelector, labels: Labels): boolean {
  return matcherOf(selector)(labels);
}

/** The same for many nodes: what can be made ready once is. */
export function matcherOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): (labels: Labels) => boolean {
  const wanted = Object.entries(matchLabels);
  return (labels) => {
    for (const [key, value] of wanted) if (labels[key] !== value) return false;
    return matchExpressions.every((requirement) => requirementHolds(requirement, labels));
  };
}

/** A label that every node has which this selector matches, and its value there; undefined where there is none. */
export const requiredLabel = ({ matchLabels = {} }: LabelSelector): readonly [key: string, value: string] | undefined =>
  Object.entries(matchLabels)[0];

/** NotIn and DoesNotExist hold where the label is missing, as in Kubernetes (apimachinery labels.Requirement). */
function requirementHolds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const isOneOf = values?.some((each) => each === value) === true;
  switch (operator) {
    case 'In':
      return isOneOf;
    case 'NotIn':
      return !isOneOf;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
