import type { Millis } from '#shared/runtime/clock.ts';
import type { PodCount } from '../fleet.ts';
import { type AppliedConfig, mostLeft, type NodeSize } from '../allocatable/allocatable.ts';
import { lockOutReasons } from '../allocatable/lock-out-reasons.ts';
import type { Targeted } from './targets.ts';
import { ageOf, COUNTED_AGAIN_MS, COUNTED_MS } from './before-restart.ts';
import type { NodeVerdict } from './decide-group.ts';
import { hold } from './holds/hold.ts';
import type { PayloadOf } from '../payload-reader.ts';
import { activeConfigOf, type NodeTarget, sameTarget } from './node-progress.ts';

/**
 * Keeps a node from a config under which its kubelet would refuse pods that it cannot do without, the agent's among them, once they
 * have been counted; null where there is room, or where nobody may count. Of its own local config nobody here knows anything.
 *
 * @param pods what was counted of each node; undefined where nobody counts
 */
export function lockOutVerdict(
  { member: { node, kubeletNode, target }, configName }: Targeted,
  payloadOf: PayloadOf,
  pods: ReadonlyMap<string, PodCount> | undefined,
  now: Millis,
): NodeVerdict | null {
  const { size } = node;
  const after = appliedOf(payloadOf, target);
  if (pods === undefined || size === undefined || after === null) return null;
  const active = activeConfigOf(kubeletNode);
  const before = appliedOf(payloadOf, active);
  if (!takesMore(size, [before === null ? null : active, target], () => mostLeft(size, before, after))) return null;
  const counted = pods.get(node.name);
  const age = ageOf(counted, now);
  const why = counted?.vital === undefined ? [] : lockOutReasons(size, before, after, counted.vital);
  if (why.length > 0 && counted !== undefined) {
    const isOld = age > COUNTED_AGAIN_MS;
    return { verdict: 'hold', ...hold('lock-out', why.join('; ')), ...(isOld ? { counts: true as const } : {}) };
  }
  // Its drain was begun because there was room, and takes away no pod of these.
  if (age <= COUNTED_MS || node.drain?.config === configName) return null;
  const because = 'the pods that it cannot do without are counted before less is left for them';
  return { verdict: 'drain', stage: 'count', because };
}

interface Asked {
  readonly of: readonly [before: NodeTarget, after: NodeTarget];
  readonly takesMore: boolean;
}

/** The last answer for each size, which a Node keeps from pass to pass: the arithmetic for a large fleet costs more than all the rest. */
const asked = new WeakMap<NodeSize, Asked>();

function takesMore(size: NodeSize, of: Asked['of'], mostLeft: () => readonly unknown[]): boolean {
  const known = asked.get(size);
  if (known !== undefined && known.of.every((target, index) => sameTarget(target, of[index] ?? null)))
    return known.takesMore;
  const answer = { of, takesMore: mostLeft().length > 0 };
  asked.set(size, answer);
  return answer.takesMore;
}

function appliedOf(payloadOf: PayloadOf, target: NodeTarget): AppliedConfig | null {
  const value = target === null ? null : payloadOf(target.sha256);
  return value === null || target === null ? null : { value, ...target };
}
