import { targetIdOf, trialIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { GuardFault, GuardSeen } from '#agent/ports/guard.ts';
import { A, AT, B } from './states.ts';

/** The trial of B that began `AT`. */
const TRIAL_OF_B = trialIdOf({ config: B, since: AT });
export const RUN_1 = { run: 'run-1', bootId: 'boot-1' };

export const disarmed: Partial<Observation> = { guard: { guard: 'disarmed' } };
/** For the trial of B, and leading to A, unless said otherwise. */
export const armed = (trial = TRIAL_OF_B, to = targetIdOf(A)): Partial<Observation> => ({
  guard: { guard: 'armed', trial, to },
});
/** It took the trial of B back to A, as the kubelet was started too often, unless said otherwise. */
export const fired = (parts: Partial<Extract<GuardSeen, { guard: 'fired' }>> = {}): Partial<Observation> => ({
  guard: {
    guard: 'fired',
    trial: TRIAL_OF_B,
    to: targetIdOf(A),
    cause: 'starts',
    at: AT,
    starts: 5,
    restarted: true,
    ...parts,
  },
});
/** What kept it from being armed for the trial of B. */
export const refusing = (tries: number, parts: Partial<GuardFault> = {}): Partial<Observation> => ({
  guardFault: { trial: TRIAL_OF_B, message: 'no such directory', tries, isFull: false, retryInMs: 0, ...parts },
});
