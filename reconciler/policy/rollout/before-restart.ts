import type { Millis } from '#shared/runtime/clock.ts';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { DesiredPool } from '../desired.ts';
import { disallowedDisruption } from '../disruption/disallowed-disruption.ts';
import type { Disruption } from '../disruption/field-disruption.ts';
import type { Targeted } from './targets.ts';
import { drainForFeatures } from '../disruption/drain-for-features.ts';
import type { PodCount } from '../fleet.ts';
import type { NodeVerdict } from './decide-group.ts';
import type { Signals } from '../signals.ts';
import { drainFirst, held } from './drain-timeout.ts';
import type { Member } from './membership.ts';

/**
 * What it takes to change a node where a restart of its kubelet is not enough: a drain, a reboot in the change itself, or a
 * person's word, because the change is more than the pool allows. null where nothing (more) stands before the restart.
 *
 * @param planned what the change asks for, whatever runs on the node
 * @param signals the drain of this node and the pods on it, where known
 */
export function beforeRestart(
  { member, configName }: Targeted,
  planned: Disruption,
  pool: DesiredPool | null,
  { drains, pods }: Pick<Signals, 'drains' | 'pods'>,
  now: Millis,
): NodeVerdict | null {
  const { name, drain: mark } = member.node;
  const config = configName ?? 'local';
  const { allow = ['restart'], drainTimeout, reboot } = pool?.spec.disruption ?? {};
  const disruption = mark?.config === config ? planned : withoutFeatures(planned, member.node, pods, allow, now);
  if ('verdict' in disruption) return disruption;
  const misfit = mark?.config === config ? null : misfitOf(disruption, pods, name, allow, now);
  if (misfit === 'uncounted') {
    return { verdict: 'drain', stage: 'count', because: 'its pods are counted before maxPods is lowered' };
  }
  const isTooFull = misfit !== null;
  const isDrainedForIt = mark?.config === config && disruption.podLimit !== undefined;
  const needed = disruption.class === 'restart' && (isTooFull || isDrainedForIt) ? 'drain' : disruption.class;
  const fields = isTooFull ? [misfit.what] : disruption.fields;
  if (needed === 'restart') return null;
  const bar = disallowedDisruption({ class: needed, fields }, { allow });
  if (bar !== null) return { ...held(bar), ...(misfit?.counts === true ? { counts: true as const } : {}) };
  const why = disruption.features === undefined ? '' : `: ${fields.join(', ')}`;
  const drain = allow.includes('drain') ? drainFirst(member, config, why, drains.get(name), drainTimeout, now) : null;
  return drain ?? (needed === 'reboot' ? withReboot(member, fields.slice(0, 3).join(', '), reboot) : null);
}

/** What was counted is believed for so long before a node is changed; pods come and go. */
export const COUNTED_MS: Millis = 60_000;

/** A node that is held is counted again this seldom: a whole pool may be. */
export const COUNTED_AGAIN_MS: Millis = 10 * 60_000;

export const ageOf = (counted: PodCount | undefined, now: Millis): Millis =>
  counted === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - counted.at);

/** With the pods of the node that need what goes off; the verdict where they have to be counted first, or hold the node. */
function withoutFeatures(
  planned: Disruption,
  { name, declares }: Member['node'],
  pods: Signals['pods'],
  allow: DisruptionSpec['allow'],
  now: Millis,
): Disruption | NodeVerdict {
  if (planned.features === undefined || pods === undefined) return planned;
  const counted = pods.get(name);
  const age = ageOf(counted, now);
  if (counted !== undefined) {
    const found = drainForFeatures(planned, declares, counted.pods === null ? undefined : (counted.needs ?? new Map()));
    const bar = disallowedDisruption(found, { allow });
    if (bar !== null) return { ...held(bar), ...(age > COUNTED_AGAIN_MS ? { counts: true as const } : {}) };
    if (age <= COUNTED_MS) return found;
  }
  return { verdict: 'drain', stage: 'count', because: 'its pods are asked what they need before a feature goes off' };
}

/**
 * Why the pods that run on a node may not fit under the maxPods that it is to have.
 *
 * `what`: the change, as part of a sentence. `counts`: they are counted again meanwhile.
 */
type Misfit = 'uncounted' | { readonly what: string; readonly counts: boolean };

/** null where they fit, or nobody may count them. */
function misfitOf(
  { class: needed, podLimit }: Disruption,
  pods: Signals['pods'],
  node: string,
  allow: DisruptionSpec['allow'],
  now: Millis,
): Misfit | null {
  if (needed !== 'restart' || podLimit === undefined || pods === undefined) return null;
  const counted = pods.get(node);
  const age = ageOf(counted, now);
  const running = counted?.pods ?? 0;
  // It is held then, and a whole pool may be.
  const isBarred = running > podLimit && !allow.includes('drain');
  if (age > COUNTED_MS && !isBarred) return 'uncounted';
  if (running <= podLimit) return null;
  return { what: `maxPods to ${podLimit}, with ${running} pods running,`, counts: age > COUNTED_AGAIN_MS };
}

/** The boot that is to end is the one in which this is decided: after it, nobody can take the order for a new one. */
function withReboot({ kubeletNode }: Member, what: string, reboot: DisruptionSpec['reboot']): NodeVerdict {
  const boot = kubeletNode?.status?.bootID;
  if (reboot === undefined) {
    return held(`the change of ${what} needs the machine to be rebooted, and disruption.reboot does not say how`);
  }
  if (boot === undefined)
    return held('its agent has not said which boot the machine is in, so no reboot could be seen');
  const because = `its turn has come, and its machine is rebooted (${reboot.by})`;
  return { verdict: 'change', because, reboot: { ...reboot, boot } };
}
