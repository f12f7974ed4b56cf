import { parseDuration } from '#shared/runtime/duration.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { DesiredPool } from '../desired.ts';
import { disruptionBar } from '../disruption/disruption-bar.ts';
import { type Disruption, disruptionOf } from '../disruption/disruption-of.ts';
import type { ConfigSourceView } from '../fleet.ts';
import type { Aimed } from './aims.ts';
import type { DrainView } from '../fleet.ts';
import type { Verdict } from './decide-group.ts';
import type { Signals } from './gates.ts';
import { hold } from './hold.ts';
import type { Member } from './membership.ts';

type Payload = Readonly<Record<string, unknown>>;

/** Where nobody here knows what changes, only how many pods may run afterwards. */
function restartTo(after: Payload | null): Disruption {
  const { podLimit } = disruptionOf(null, after);
  return { class: 'restart', fields: [], ...(podLimit === undefined ? {} : { podLimit }) };
}

/**
 * What it does to a node to take its present config away for another one; the same pair is looked at once. Where one of the
 * two is the node's own local config nobody here knows what changes: that counts as a restart.
 *
 * @param bySha the config sources of the cluster, by the SHA-256 of what they carry
 */
export function disruptionsIn(
  pool: DesiredPool | null,
  bySha: ReadonlyMap<string, ConfigSourceView>,
): (aimed: Aimed) => Disruption {
  const known = new Map<string, Disruption>();
  const payloadOf = (sha256: string | undefined): Payload | null => {
    const own = pool?.config?.sha256 === sha256 ? pool?.config?.payload : undefined;
    return parsed(own ?? bySha.get(sha256 ?? '')?.payload);
  };
  return ({ member }) => {
    const runs = member.kubeletNode?.status?.active?.sha256;
    const pair = `${runs ?? ''} ${member.target?.sha256 ?? ''}`;
    const present = known.get(pair);
    if (present !== undefined) return present;
    const [before, after] = [payloadOf(runs), payloadOf(member.target?.sha256)];
    const found = before === null || after === null ? restartTo(after) : disruptionOf(before, after);
    known.set(pair, found);
    return found;
  };
}

/** After a drain that was given up, the node is left alone for this long. */
const DRAIN_AGAIN_MS: Millis = 30 * 60_000;
const DEFAULT_DRAIN_TIMEOUT = '10m';

/**
 * What it takes to change a node where a restart of its kubelet is not enough: a drain, a reboot in the change itself, or a
 * person's word, because the change is more than the pool allows. null where nothing (more) stands before the restart.
 *
 * @param signals how the drain of this node stands, and how many pods run on it, as far as anybody looked
 */
export function beforeRestart(
  { member, configName }: Aimed,
  disruption: Disruption,
  pool: DesiredPool | null,
  { drains, pods }: Pick<Signals, 'drains' | 'pods'>,
  now: Millis,
): Verdict | null {
  const { name, drain: mark } = member.node;
  const config = configName ?? 'local';
  const room = mark?.config === config ? null : roomFor(disruption, pods, name, now);
  if (room === 'uncounted')
    return { verdict: 'drain', stage: 'count', because: 'its pods are counted before maxPods is lowered' };
  const shrinks =
    disruption.class === 'restart' && (room !== null || (mark?.config === config && disruption.podLimit !== undefined));
  const needed = shrinks ? 'drain' : disruption.class;
  const fields = room === null ? disruption.fields : [room];
  const { allow = ['restart'], drainTimeout = DEFAULT_DRAIN_TIMEOUT, reboot } = pool?.spec.disruption ?? {};
  if (needed === 'restart') return null;
  const bar = disruptionBar({ class: needed, fields }, { allow });
  if (bar !== null) return held(bar);
  const drain = allow.includes('drain')
    ? drainFirst(member, config, drains.get(name), parseDuration(drainTimeout) ?? 0, now)
    : null;
  return drain ?? (needed === 'reboot' ? withReboot(member, fields.slice(0, 3).join(', '), reboot) : null);
}

/** What was counted is believed for so long; pods come and go. */
const COUNTED_MS: Millis = 60_000;

/** Why the pods that run do not fit any more; null where they do, and where nobody can tell. */
function roomFor(
  { class: needed, podLimit }: Disruption,
  pods: Signals['pods'],
  node: string,
  now: Millis,
): string | null {
  if (needed !== 'restart' || podLimit === undefined || pods === undefined) return null;
  const counted = pods.get(node);
  if (counted === undefined || now - counted.at > COUNTED_MS) return 'uncounted';
  const isFull = counted.pods !== null && counted.pods > podLimit;
  return isFull ? `maxPods to ${podLimit}, with ${counted.pods} pods running,` : null;
}

/** The boot that is to end is the one in which this is decided: after it, nobody can take the order for a new one. */
function withReboot({ kubeletNode }: Member, what: string, reboot: DisruptionSpec['reboot']): Verdict {
  const boot = kubeletNode?.status?.bootID;
  if (reboot === undefined) {
    return held(`the change of ${what} needs the machine to be rebooted, and disruption.reboot does not say how`);
  }
  if (boot === undefined)
    return held('its agent has not said which boot the machine is in, so no reboot could be seen');
  const because = `its turn has come, and its machine is rebooted (${reboot.by})`;
  return { verdict: 'change', because, reboot: { ...reboot, boot } };
}

function drainFirst(
  { node: { drain, drainFailed, cordoned } }: Member,
  config: string,
  view: DrainView | undefined,
  timeoutMs: Millis,
  now: Millis,
): Verdict | null {
  if (drainFailed?.config === config && now - drainFailed.at < DRAIN_AGAIN_MS) {
    return held(
      `its drain was given up at ${toTimestamp(drainFailed.at)}; it is drained again from ${toTimestamp(drainFailed.at + DRAIN_AGAIN_MS)} on`,
    );
  }
  if (drain?.config !== config)
    return { verdict: 'drain', stage: 'cordon', because: 'its turn has come to be drained' };
  if (!cordoned)
    return { ...held('somebody uncordoned it while it was being drained, so it is left alone'), gaveUp: true };
  const known = view?.since === drain.at ? view : undefined;
  if (known?.drained === true) return null;
  const because = known?.because ?? 'its pods are told to leave';
  if (now - drain.at > timeoutMs) return { ...held(`its pods did not leave in time: ${because}`), gaveUp: true };
  return { verdict: 'drain', stage: 'evict', because };
}

const held = (because: string): Extract<Verdict, { verdict: 'hold' }> => ({
  verdict: 'hold',
  ...hold('disruption', because),
});

function parsed(payload: ConfigSourceView['payload']): Payload | null {
  if (payload === undefined) return null;
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Payload) : null;
  } catch {
    return null;
  }
}
