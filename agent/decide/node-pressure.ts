import { isDeepStrictEqual as equal } from 'node:util';
import type { Observation } from './observation.ts';
import type { NodePressure, Trial } from './state.ts';

/** Pressures that the machine has and did not have before, in words. A pressure without a reading before does not count. */
export function pressureSince(before: NodePressure, now: NodePressure): readonly string[] {
  const { pressures, outOfMemory } = before;
  const brought = pressures === null ? [] : (now.pressures ?? []).filter((pressure) => !pressures.includes(pressure));
  const counted = before.bootId === now.bootId ? outOfMemory : outOfMemory && {};
  const killed =
    counted === null
      ? []
      : Object.entries(now.outOfMemory ?? {}).flatMap(([cgroup, count]) => {
          const more = count - (counted[cgroup] ?? 0);
          return more > 0
            ? [`its pods were out of memory ${more === 1 ? 'once' : `${more} times`} at the limit of ${cgroup}`]
            : [];
        });
  return [
    ...brought.map((pressure) => `its Node is under ${pressure}, and was not before`),
    ...killed,
    ...podsHarmed(before.pods, now.pods),
  ];
}

/**
 * Refusals that a config can be the cause of: want of room, a policy, a feature that is off. Device plugins that are not back yet
 * after a restart (`UnexpectedAdmissionError`), labels and taints are nothing of its doing.
 */
const REFUSED_BY_CONFIG: ReadonlySet<string> = new Set([
  'refused OutOfcpu',
  'refused OutOfmemory',
  'refused OutOfephemeral-storage',
  'refused OutOfpods',
  'refused Evicted',
  'refused TopologyAffinityError',
  'refused SysctlForbidden',
  'refused PodLevelResourcesNotSupported',
  'refused PodFeatureUnsupported',
]);

/** A pod that passes a limit of its own is evicted under every config. */
const isByConfig = (what: string): boolean =>
  REFUSED_BY_CONFIG.has(what) || (what.startsWith('evicted ') && !what.endsWith('.limit'));

/** More than the whole run of the kubelet before, however long it was, had evicted or refused for the same reason. */
function podsHarmed(before: NodePressure['pods'], now: NodePressure['pods']): readonly string[] {
  if (before === null) return [];
  return Object.entries(now ?? {}).flatMap(([what, count]) => {
    const then = before[what] ?? 0;
    if (count <= then || !isByConfig(what)) return [];
    const space = what.indexOf(' ');
    const pods = count === 1 ? 'a pod' : `${count} pods`;
    const did = `${what.slice(0, space)} ${pods} since its start (${what.slice(space + 1)})`;
    return [`the kubelet ${did}, and ${then} in the run before`];
  });
}

/** What a config that is put on trial now is not to be blamed for. One that it supersedes is. */
export const pressureBefore = (superseded: Trial | undefined, { strain }: Observation): NodePressure =>
  superseded?.strain ?? strain;

/** As long as the kubelet has not heard of the config, whatever comes is not the config's doing. */
export function withPressureSoFar(trial: Trial, { strain: now, service, bootId }: Observation): Trial {
  const { before, strain, change } = trial;
  const isUntouched =
    change.step !== 'judge' && before !== null && before.run === service.run && before.bootId === bootId;
  if (!isUntouched) return trial;
  const next: NodePressure = {
    pressures:
      now.pressures === null ? strain.pressures : [...new Set([...(strain.pressures ?? []), ...now.pressures])],
    outOfMemory: now.outOfMemory ?? strain.outOfMemory,
    pods: now.pods ?? strain.pods,
    bootId,
  };
  return equal(next, strain) ? trial : { ...trial, strain: next };
}
