import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Disruption, disruptionOf } from '../disruption/disruption-of.ts';
import type { Aimed } from './aims.ts';
import type { Payload, PayloadOf } from './payloads.ts';

/** Where nobody here knows what changes, only how many pods may run afterwards. */
function restartTo(after: Payload | null): Disruption {
  const { podLimit } = disruptionOf(null, after);
  return { class: 'restart', fields: [], ...(podLimit === undefined ? {} : { podLimit }) };
}

/**
 * What it does to a node to take its present config away for another one; the same pair is looked at once for each minor version. Where one of the
 * two is the node's own local config nobody here knows what changes: that counts as a restart.
 */
export function disruptionsIn(payloadOf: PayloadOf): (aimed: Aimed) => Disruption {
  const known = new Map<string, Disruption>();
  return ({ member }) => {
    const { active, kubeletVersion } = member.kubeletNode?.status ?? {};
    const [runs, minor] = [active?.sha256, minorNumber(kubeletVersion ?? '')];
    const pair = `${runs ?? ''} ${member.target?.sha256 ?? ''} ${minor ?? ''}`;
    const present = known.get(pair);
    if (present !== undefined) return present;
    const [before, after] = [payloadOf(runs), payloadOf(member.target?.sha256)];
    const found = before === null || after === null ? restartTo(after) : disruptionOf(before, after, minor);
    known.set(pair, found);
    return found;
  };
}
