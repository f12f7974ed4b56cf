import { targetIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State, Target, Unproven } from '#agent/decide/state.ts';
import type { GuardSeen } from '#agent/ports/guard.ts';
import { A, AT, B, idle } from '../../../support/agent/states.ts';

export const WATCH_OF_B = `${B.source.name}/${B.source.sha256}/${B.apply}@boots`;

const boots = (now: GuardSeen): Partial<Observation> => ({ guard: { guard: 'disarmed', boots: now } });
export const unwatched = boots({ guard: 'disarmed' });
export const watching = (trial = WATCH_OF_B): Partial<Observation> =>
  boots({ guard: 'armed', trial, to: targetIdOf(A) });
export const tookBack = (parts: Partial<Extract<GuardSeen, { guard: 'fired' }>> = {}): Partial<Observation> => ({
  bootId: 'boot-2',
  ...boots({
    guard: 'fired',
    trial: WATCH_OF_B,
    to: targetIdOf(A),
    cause: 'silence',
    at: AT,
    starts: 1,
    restarted: true,
    ...parts,
  }),
});
/** In the boot of the promotion: after a start of the kubelet alone. */
export const tookBackNow = (): Partial<Observation> => tookBack({ watch: 'boot-2' });
export const asked = (parts: Partial<Observation> = {}): Partial<Observation> => ({
  ...boots({ guard: 'armed', trial: WATCH_OF_B, to: targetIdOf(A), asks: true }),
  ...parts,
});
export const nextBoot: Partial<Observation> = { bootId: 'boot-2' };

/** B was promoted, and an agent came up under A last. */
export const promoted = (parts: Partial<Unproven> = {}, runs: Target = B): State => ({
  ...idle(runs),
  unproved: { sha256: B.source.sha256, to: A, bootId: 'boot-1', absences: 0, ...parts },
});
