import type { AbsenceReason } from '../../participation.ts';

/** Why a node that has yet to be told is not changed now. */
export type HoldReason =
  | AbsenceReason
  | 'budget'
  | 'zone-budget'
  | 'overall-budget'
  | 'control-plane'
  | 'halted'
  | 'suspended'
  | 'cluster-file'
  | 'window'
  | 'blocked'
  | 'wave'
  | 'approval'
  | 'analysis'
  | 'rest'
  | 'disruption'
  | 'lock-out'
  | 'no-config-source'
  | 'base-refused'
  | 'unselected'
  | 'no-commit'
  | 'unheard'
  | 'relabelled';

export interface Hold {
  readonly hold: HoldReason;
  /** A clause for people: why, and what ends it. */
  readonly because: string;
}

export const hold = (reason: HoldReason, because: string): Hold => ({ hold: reason, because });
