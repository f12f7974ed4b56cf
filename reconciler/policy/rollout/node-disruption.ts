import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Disruption, disruptionOf, podLimitOf } from '../disruption/field-disruption.ts';
import type { Targeted } from './targets.ts';
import type { Payload, PayloadOf } from '../payload-reader.ts';

/** Where nobody here knows what changes, only how many pods may run afterwards. */
const restartTo = (after: Payload | null): Disruption => ({ class: 'restart', fields: [], ...podLimitOf(null, after) });

/**
 * What it does to a node to take its present config away for another one; the same pair is looked at once for each version. Where one of the
 * two is the node's own local config nobody here knows what changes: that counts as a restart.
 */
export function nodeDisruptions(payloadOf: PayloadOf): (aimed: Targeted) => Disruption {
  const known = new Map<string, Map<string, Map<string, Disruption>>>();
  return ({ member }) => {
    const { active, kubeletVersion = '' } = member.kubeletNode?.status ?? {};
    const [runs, gets] = [active?.sha256, member.target?.sha256];
    const found = inner(inner(known, runs ?? ''), gets ?? '');
    const present = found.get(kubeletVersion);
    if (present !== undefined) return present;
    const [before, after] = [payloadOf(runs), payloadOf(gets)];
    const isKnown = before !== null && after !== null;
    const made = isKnown ? disruptionOf(before, after, minorNumber(kubeletVersion)) : restartTo(after);
    found.set(kubeletVersion, made);
    return made;
  };
}

/** To put the words of a key together costs more than to look each of them up. */
function inner<T>(outer: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const present = outer.get(key);
  if (present !== undefined) return present;
  const made = new Map<string, T>();
  outer.set(key, made);
  return made;
}
