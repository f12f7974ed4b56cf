import { CORDONED_ANNOTATION, NOT_CONFIGURED_TAINT } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import type { Step } from '../../policy/steps.ts';
import { cordonPatch, parseMark, uncordonPatch } from '../../policy/disruption/drain-mark.ts';

/** The writes to Nodes, which people and other programs write as well. */
export type NodeStep = Extract<Step, { readonly step: 'cordon' | 'uncordon' | 'untaint' }>;

export const isNodeStep = (step: Step): step is NodeStep =>
  step.step === 'cordon' || step.step === 'uncordon' || step.step === 'untaint';

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] };
}

/**
 * Reads the Node once more, and writes it only as it was read: a watch may be behind, and a write in between is not
 * overwritten.
 *
 * @returns the Node as the API server has it now; null for nothing (more) to do
 * @throws KubeError KUBE_CONFLICT if another writer was quicker: the next pass decides again
 */
export async function writeNode(kube: Kube, step: NodeStep, signal: AbortSignal): Promise<KubeObject | null> {
  // By list, because the reconciler has no right to get a Node, and needs no more than it has.
  const found = await kube.list<NodeObject>({ resource: NODES, fieldSelector: `metadata.name=${step.node}` }, signal);
  const patch = nodePatch(
    step,
    found.items.find(({ metadata }) => metadata.name === step.node),
  );
  return patch === null ? null : kube.mergePatch({ resource: NODES }, step.node, patch, {}, signal);
}

/**
 * The patch of a step for the Node as it is now. Pure. null if it was done already, if another Node has the name by
 * now, and if a person was there first: a node that another cordoned is not ours, and so never uncordoned by us.
 */
export function nodePatch(step: NodeStep, node: NodeObject | undefined): Readonly<Record<string, unknown>> | null {
  const { uid, resourceVersion = '', annotations = {} } = node?.metadata ?? {};
  if (node === undefined || uid !== step.uid) return null;
  const text = annotations[CORDONED_ANNOTATION];
  const mark = text === undefined ? undefined : parseMark(text);
  const { unschedulable = false, taints = [] } = node.spec ?? {};
  switch (step.step) {
    case 'cordon': {
      const isDone = unschedulable && mark?.config === step.mark.config;
      const isTheirs = unschedulable && mark === undefined;
      return isDone || isTheirs ? null : cordonPatch({ uid, resourceVersion }, step.mark);
    }
    case 'uncordon':
      return mark === undefined ? null : uncordonPatch({ uid, resourceVersion }, step.failed);
    case 'untaint': {
      const others = taints.filter(({ key }) => key !== NOT_CONFIGURED_TAINT);
      if (others.length === taints.length) return null;
      return { metadata: { uid, resourceVersion }, spec: { taints: others.length === 0 ? null : others } };
    }
  }
}
