import type { Millis } from '#shared/runtime/clock.ts';
import type { PodCount } from '../fleet.ts';
import type { LaidConfig } from '../room/allocatable.ts';
import { mostLeft } from '../room/allocatable.ts';
import { lockOuts } from '../room/lock-out.ts';
import type { Aimed } from './aims.ts';
import type { NodeVerdict } from './decide-group.ts';
import { hold } from './holds/hold.ts';
import type { PayloadOf } from './payloads.ts';

/** What was counted is believed for so long before a node is changed. */
const COUNTED_MS: Millis = 60_000;

/** A node that is held is counted again this seldom: a whole pool may be. */
const COUNTED_AGAIN_MS: Millis = 10 * 60_000;

/**
 * Keeps a node from a config under which its kubelet would refuse pods that it cannot do without, the agent's among them, once they
 * have been counted; null where there is room, or where nobody may count. Of its own local config nobody here knows anything.
 *
 * @param pods what was counted of each node; undefined where nobody counts
 */
export function lockOutOf(
  { member: { node, kubeletNode, target }, configName }: Aimed,
  payloadOf: PayloadOf,
  pods: ReadonlyMap<string, PodCount> | undefined,
  now: Millis,
): NodeVerdict | null {
  const { size } = node;
  const after = appliedOf(payloadOf, target);
  if (pods === undefined || size === undefined || after === null) return null;
  const { sha256, apply = 'overlay' } = kubeletNode?.status?.active ?? {};
  const before = sha256 === undefined ? null : appliedOf(payloadOf, { sha256, apply });
  if (mostLeft(size, before, after).length === 0) return null;
  const counted = pods.get(node.name);
  const age = counted === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - counted.at);
  const why = counted?.vital === undefined ? [] : lockOuts(size, before, after, counted.vital);
  if (why.length > 0 && counted !== undefined) {
    const isOld = age > COUNTED_AGAIN_MS;
    return { verdict: 'hold', ...hold('lock-out', why.join('; ')), ...(isOld ? { counts: true as const } : {}) };
  }
  // Its drain was begun because there was room, and takes away no pod of these.
  if (age <= COUNTED_MS || node.drain?.config === configName) return null;
  const because = 'the pods that it cannot do without are counted before less is left for them';
  return { verdict: 'drain', stage: 'count', because };
}

function appliedOf(payloadOf: PayloadOf, target: Aimed['member']['target']): LaidConfig | null {
  const value = target === null ? null : payloadOf(target.sha256);
  return value === null || target === null ? null : { value, apply: target.apply };
}
