import { absenceOf, type AbsenceReason, participantOf } from '../../participation.ts';
import type { HoldCheck } from './hold-question.ts';

/** It cannot take part now, for this reason. */
export const absent =
  (reason: AbsenceReason): HoldCheck =>
  ({ targeted: { member }, facts: { group } }) =>
    absenceOf(participantOf(member), group.pool?.spec.rollout, [reason]);
