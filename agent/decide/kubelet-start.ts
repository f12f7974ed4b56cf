import type { StarterProgram } from '../ports/kubelet-start.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Observation } from './observation.ts';

/**
 * How long these programs may take until they start a kubelet, where that is more than the start timeout of the trial: k3s and RKE2
 * import all their image archives at each start (docs.k3s.io, air-gap install).
 */
const START_TIMEOUT_MS: Readonly<Record<StarterProgram, Millis>> = {
  k3s: 15 * 60_000,
  rke2: 15 * 60_000,
  k0s: 5 * 60_000,
};

/** @param startTimeoutMs of a kubelet, from its own start on */
export const timeoutBeforeStart = ({ program }: NonNullable<Observation['starter']>, startTimeoutMs: Millis): Millis =>
  Math.max(startTimeoutMs, START_TIMEOUT_MS[program]);

/** Why the kubelet has not been started yet, in words; undefined if it has. */
export function whyNotStarted({ starter, isApiAway }: Observation): string | undefined {
  if (starter === undefined) return undefined;
  const { program, hostsServer } = starter;
  return isApiAway === true && !hostsServer
    ? `${program} waits for its server before it starts the kubelet, and no API server answers`
    : `${program} has not started the kubelet yet`;
}

/**
 * Whether all that is missing is an API server elsewhere. The config has no part in that: no kubelet has read it. On a node that runs a
 * server the config may be why there is none.
 */
export const awaitsServer = ({ starter, isApiAway }: Observation): boolean =>
  starter?.hostsServer === false && isApiAway === true;
