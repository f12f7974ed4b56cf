import type { Desired } from './desired.ts';
import type { Fleet, NodeView } from './fleet.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Step } from './steps.ts';
import type { MemberDecision } from './rollout/decide-group.ts';
import { isInGrace } from './rollout/label-grace.ts';
import { kubeletNodeOf } from './kubelet-node-of.ts';
import type { Group } from './rollout/membership.ts';
import { runsAlready } from './rollout/node-progress.ts';

/**
 * Nodes may come with a taint that keeps pods off them until their config has proven itself (the kubelet's
 * --register-with-taints). It is taken away when the node runs what its pool wants of it or what the pool settled on, and
 * where no pool has anything to do with it, also after the time that its labels may take to come. It is never put onto a node: whoever serves pods goes on doing so.
 *
 * A node that took the config back, that has no agent, or that nobody can say the pool of keeps it: that is what it is for.
 */
export function untaintSteps(
  groups: readonly { readonly group: Group; readonly decisions: readonly MemberDecision[] }[],
  desired: Desired,
  fleet: Fleet,
  now: Millis,
): readonly Step[] {
  const gated = [...fleet.nodes.values()].filter((node) => node.gated === true && node.ready);
  if (gated.length === 0) return [];
  const decided = new Map(
    groups.flatMap(({ group, decisions }) =>
      decisions.map((decision) => [decision.member.node.name, { group, decision }] as const),
    ),
  );
  return gated.flatMap((node): readonly Step[] => {
    const known = decided.get(node.name);
    const because =
      known === undefined
        ? isFree(node, desired, fleet) && !isInGrace(node, now)
          ? 'no pool selects it'
          : null
        : becauseOf(known.decision, known.group);
    return because === null ? [] : [{ step: 'untaint', node: node.name, uid: node.uid, because }];
  });
}

function becauseOf({ member }: MemberDecision, { proof }: Group): string | null {
  const { shown, mayBeTold, updated } = member.lifecycle;
  if (updated && !mayBeTold) return 'its config is proven';
  const former = proof?.provenFor(member) ?? null;
  const runsFormer = shown === 'outdated' && runsAlready(member.kubeletNode, former);
  return runsFormer ? 'it runs what its pool settled on' : null;
}

/** Before any commit was read nobody knows which pools there are, nor what became of one that a node was told a config of. */
const isFree = (node: NodeView, { commit, choices }: Desired, fleet: Fleet): boolean =>
  commit !== null && choices.get(node.name)?.choice === 'none' && kubeletNodeOf(node, fleet)?.spec?.pool === undefined;
