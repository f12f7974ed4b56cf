/** Why a node that has yet to be told is not changed now. */
export type HoldReason =
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
  | 'analysis'
  | 'disruption'
  | 'lock-out'
  | 'not-ready'
  | 'cordoned'
  | 'no-agent'
  | 'no-config-source'
  | 'not-computable'
  | 'base-refused'
  | 'unselected'
  | 'no-commit'
  | 'relabelled';

export interface Hold {
  readonly hold: HoldReason;
  /** A clause for people: why, and what ends it. */
  readonly because: string;
}

export const hold = (reason: HoldReason, because: string): Hold => ({ hold: reason, because });
