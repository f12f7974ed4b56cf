import { isProven } from '../on-trial.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

/** The measures of the canaries have yet to be compared, or speak against the config. */
export const analysisPending: HoldCheck = ({ targeted: { targetKind, member }, facts: { analysis, group } }) => {
  if (targetKind !== 'config' || member.isAssigned || analysis === undefined) return null;
  if (isProven(group, member.node.name, member.target)) return null;
  const { verdict, since, message } = analysis;
  if (verdict === 'pass' || verdict === 'unknown') return null;
  const { timeout } = group.pool?.spec.rollout.analysis ?? {};
  const limit = verdict === 'waiting' && timeout !== undefined ? ` (at most ${timeout} from ${since})` : '';
  return hold('analysis', `the canaries are compared: ${message}${limit}`);
};
