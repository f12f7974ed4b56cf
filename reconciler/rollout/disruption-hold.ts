import type { DisruptionClass } from '#shared/contract/api/kubelet-pool.ts';
import type { DesiredPool } from '../desired.ts';
import { type Disruption, disruptionOf } from '../disruption/disruption-of.ts';
import type { ConfigSourceView, Fleet } from '../fleet.ts';
import type { Aimed } from './aims.ts';
import { type Hold, hold } from './hold.ts';

type Payload = Readonly<Record<string, unknown>>;

const RESTART: Disruption = { class: 'restart', fields: [] };

/**
 * What it does to a node to take its present config away for another one; the same pair is looked at once. Where one of the
 * two is the node's own local config nobody here knows what changes: that counts as a restart.
 */
export function disruptionsIn(pool: DesiredPool | null, fleet: Fleet): (aimed: Aimed) => Disruption {
  const bySha = new Map([...fleet.configSources.values()].map((source) => [source.sha256, source]));
  const known = new Map<string, Disruption>();
  const payloadOf = (sha256: string | undefined): Payload | null => {
    const own = pool?.config?.sha256 === sha256 ? pool?.config?.payload : undefined;
    return parsed(own ?? bySha.get(sha256 ?? '')?.payload);
  };
  return ({ member }) => {
    const runs = member.kubeletNode?.status?.active?.sha256;
    const pair = `${runs ?? ''} ${member.target?.sha256 ?? ''}`;
    const [before, after] = [payloadOf(runs), payloadOf(member.target?.sha256)];
    const found = known.get(pair) ?? (before === null || after === null ? RESTART : disruptionOf(before, after));
    known.set(pair, found);
    return found;
  };
}

/** Why a change is more than its pool allows; null where it is not. */
export function disruptionHold(disruption: Disruption, pool: DesiredPool | null): Hold | null {
  const allowed: readonly DisruptionClass[] = pool?.spec.disruption?.allow ?? ['restart'];
  const { class: needed, fields } = disruption;
  if (needed === 'restart') return null;
  const what = fields.slice(0, 3).join(', ');
  if (needed === 'never') {
    return hold('disruption', `${what} cannot be changed on a node that lives: replace the node instead`);
  }
  if (allowed.includes(needed)) return null;
  const how = needed === 'drain' ? 'the node to be drained' : 'the machine to be rebooted';
  return hold('disruption', `the change of ${what} needs ${how}: allow it with disruption.allow: [restart, ${needed}]`);
}

function parsed(payload: ConfigSourceView['payload']): Payload | null {
  if (payload === undefined) return null;
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Payload) : null;
  } catch {
    return null;
  }
}
