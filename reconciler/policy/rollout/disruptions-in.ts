import type { DesiredPool } from '../desired.ts';
import { type Disruption, disruptionOf } from '../disruption/disruption-of.ts';
import type { ConfigSourceView } from '../fleet.ts';
import type { Aimed } from './aims.ts';

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

function parsed(payload: ConfigSourceView['payload']): Payload | null {
  if (payload === undefined) return null;
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Payload) : null;
  } catch {
    return null;
  }
}
