import type { KubeletNode, KubeletNodeSpec, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import type { Step } from '../steps.ts';
import { type NodeSpecs, keptTrial, isSameSpec } from './node-spec.ts';
import type { Budgets } from './max-unavailable.ts';
import type { MemberDecision, NodeVerdict } from './decide-group.ts';
import type { Group, Member } from './membership.ts';
import { nextOrderOf } from './next-order.ts';
import { type PoolTrials, trialTermsOf } from './trial-terms.ts';
import { withPreflightOrder } from './preflight-order.ts';

/** What trials the nodes of a group get now. */
interface CurrentTrialTerms extends PoolTrials {
  /** The canaries have proven the payload, and where values are computed, nodes of its own class. */
  readonly isProven: (member: Member) => boolean;
}

export function currentTrialTerms(group: Group, budgets: Budgets): CurrentTrialTerms | undefined {
  if (group.pool === null) return undefined;
  const onTrial = budgets.onTrial(group);
  const isProven = ({ payloadClass }: Member): boolean =>
    onTrial?.isProven === true && onTrial.classes?.get(payloadClass?.name ?? '')?.isProven !== false;
  return { ...trialTermsOf(group.pool.spec), isProven };
}

/** What the pool settled on is proven; a restart that a node asks for tries something that no canary has. */
function trialFor({ member, aimed }: MemberDecision, { full, afterCanary, isProven }: CurrentTrialTerms): TrialSpec {
  return member.turnRequest === undefined && (isProven(member) || aimed.targetKind === 'settled') ? afterCanary : full;
}

/** What has to be written to nodes for what was decided about them. Pure. */
export function nodeSteps(
  decisions: readonly MemberDecision[],
  assignments: NodeSpecs,
  terms: CurrentTrialTerms | undefined,
): readonly Step[] {
  return decisions.flatMap((decision): readonly Step[] => {
    const { member, aimed, verdict } = decision;
    const { kubeletNode: node, target } = member;
    if (node === undefined) return [];
    if (target === null || aimed.configName === null) return leavingSteps(node, member, verdict);
    const assignment = assignments(aimed.configName, target);
    if (assignment === undefined || terms === undefined) return [];
    const spec = { ...assignment, trial: trialFor(decision, terms) };
    if (verdict.verdict === 'change') {
      const forgive = member.forgive && member.failedAt !== undefined ? { forgive: member.failedAt } : {};
      const { reboot, because } = verdict;
      const rebootOrder = reboot === undefined ? {} : { reboot };
      const turn =
        member.turnRequest === undefined ? {} : { ...unspentReboot(node), turn: { seen: member.turnRequest.seen } };
      const told = { order: nextOrderOf(node), ...spec, ...forgive, ...rebootOrder, ...turn };
      return [{ step: 'assign', node, spec: told, because }];
    }
    if (verdict.verdict === 'drain' && verdict.stage === 'preflight') {
      const asked = withPreflightOrder(node, spec, member.forgive ? member.failedAt : undefined);
      return asked === null ? [] : [{ step: 'amend', node, spec: asked, because: verdict.because }];
    }
    const { shown, mayBeTold, failed } = member.lifecycle;
    const isAway = mayBeTold || shown === 'no-agent' || (failed && !member.isAssigned);
    const told = !isAway || member.turnRequest !== undefined;
    const kept = { ...assignment, trial: keptTrial(node.spec?.trial, terms) ?? spec.trial };
    return told && !isSameSpec(node.spec ?? {}, kept)
      ? [
          {
            step: 'amend',
            node,
            spec: { ...orderIn(node), ...kept, ...rebootIn(node), ...turnIn(node) },
            because: 'the pool changed something other than the payload',
          },
        ]
      : [];
  });
}

/** What asks for no restart is no other order. */
const orderIn = ({ spec }: KubeletNode): Pick<KubeletNodeSpec, 'order'> =>
  spec?.order === undefined ? {} : { order: spec.order };

/** An order to reboot belongs to the change that it was given with, and stays while that change is what the node was told. */
const rebootIn = ({ spec }: KubeletNode): Pick<KubeletNodeSpec, 'reboot'> =>
  spec?.reboot === undefined ? {} : { reboot: spec.reboot };

/** Where the boot that is to end is still the present one. */
const unspentReboot = (node: KubeletNode): Pick<KubeletNodeSpec, 'reboot'> =>
  node.spec?.reboot?.boot === node.status?.bootID ? rebootIn(node) : {};

/** A turn is spent once the agent sees anything else, so that it may stay until another config is assigned. */
const turnIn = ({ spec }: KubeletNode): Pick<KubeletNodeSpec, 'turn'> =>
  spec?.turn === undefined ? {} : { turn: spec.turn };

/** The pool stays in the spec until the node runs its local config, so that its budget goes on counting the node. */
function leavingSteps(node: KubeletNode, { lifecycle }: Member, verdict: NodeVerdict): readonly Step[] {
  const pool = node.spec?.pool;
  if (verdict.verdict === 'change') {
    const spec = { order: nextOrderOf(node), ...(pool === undefined ? {} : { pool }) };
    return [{ step: 'unassign', node, spec, because: verdict.because }];
  }
  const gone = lifecycle.updated && pool !== undefined;
  return gone ? [{ step: 'amend', node, spec: orderIn(node), because: 'the node runs its local config again' }] : [];
}
