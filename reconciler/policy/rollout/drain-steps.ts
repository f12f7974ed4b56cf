import type { Millis } from '#shared/runtime/clock.ts';
import type { FailedDrain, Fleet, NodeView } from '../fleet.ts';
import type { Step } from '../steps.ts';
import type { MemberDecision } from './decide-group.ts';
import type { SkippedNode } from './membership.ts';

/**
 * What has to be done to nodes so that their pods leave, and come back. A node that we cordoned stays so while it is being
 * drained or changed, or nobody knows its pool; whatever else became of it, pods are let back on.
 */
export function drainSteps(
  groups: readonly { readonly decisions: readonly MemberDecision[] }[],
  untouchable: readonly SkippedNode[],
  fleet: Fleet,
  now: Millis,
): readonly Step[] {
  const decided = new Map<string, MemberDecision>();
  for (const { decisions } of groups) {
    for (const each of decisions) if (isOfInterest(each)) decided.set(each.member.node.name, each);
  }
  const unknown = new Set(untouchable.filter(({ choice }) => choice.choice === 'unknown').map(({ node }) => node.name));
  const steps: Step[] = [];
  for (const node of fleet.nodes.values()) {
    const decision = decided.get(node.name);
    if (!unknown.has(node.name)) steps.push(...stepFor(node, decision, now));
  }
  return steps;
}

/** Of thousands of nodes next to none are drained, or have their pods counted. */
const isOfInterest = ({ member, verdict }: MemberDecision): boolean =>
  member.node.drain !== undefined || verdict.verdict === 'drain' || isCounted(verdict);

function stepFor(node: NodeView, decision: MemberDecision | undefined, now: Millis): readonly Step[] {
  const { name, uid, drain } = node;
  const verdict = decision?.verdict;
  const config = decision?.aimed.configName ?? 'local';
  if (verdict?.verdict === 'drain') {
    if (verdict.stage === 'cordon') return [{ step: 'cordon', node: name, uid, mark: { config, at: now } }];
    if (verdict.stage === 'preflight') return [];
    if (verdict.stage === 'count') return [{ step: 'count-pods', node: name, at: now }];
    return [{ step: 'evict', node: name, since: drain?.at ?? now }];
  }
  const counts: readonly Step[] = isCounted(verdict) ? [{ step: 'count-pods', node: name, at: now }] : [];
  const waits = verdict?.verdict === 'hold' && (verdict.hold === 'no-commit' || verdict.hold === 'unheard');
  if (waits || isBeingChanged(decision) || drain === undefined) return counts;
  return [...counts, { step: 'uncordon', node: name, uid, failed: failedDrain(node, decision, now) }];
}

/** What is known of drains in vain once this one is over: nothing where the node was told what it was drained for. */
function failedDrain(
  { drain, drainFailed }: NodeView,
  decision: MemberDecision | undefined,
  now: Millis,
): FailedDrain | null {
  const { member, aimed, verdict } = decision ?? {};
  if (verdict?.verdict === 'hold' && verdict.gaveUp === true)
    return { config: aimed?.configName ?? 'local', at: now, times: (drainFailed?.times ?? 0) + 1 };
  const isDone = member !== undefined && (member.kubeletNode?.spec?.configSource?.name ?? 'local') === drain?.config;
  return isDone ? null : (drainFailed ?? null);
}

const isCounted = (verdict: MemberDecision['verdict'] | undefined): boolean =>
  verdict?.verdict === 'hold' && verdict.counts === true;

/** A node whose machine is rebooted has no agent for a while: nobody may put pods on it before it was heard of again. */
function isBeingChanged(decision: MemberDecision | undefined): boolean {
  if (decision === undefined) return false;
  const { verdict, member } = decision;
  const { shown, inChange, updated, failed } = member.lifecycle;
  const comesBack = shown !== 'no-agent' || member.kubeletNode?.spec?.reboot !== undefined;
  return verdict.verdict === 'change' || (inChange && !updated && !failed && comesBack);
}
