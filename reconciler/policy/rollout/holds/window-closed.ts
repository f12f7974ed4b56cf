import type { WaveProgress } from '../wave-progress.ts';
import { hold } from './hold.ts';
import { isRevertOfPayload } from '../revert.ts';
import type { HoldCheck } from './hold-question.ts';

/**
 * No maintenance window is open. An emergency waits for none, and a wave that began may be finished where the pool says so, to which
 * restarts that nodes ask for do not belong.
 */
export const windowClosed: HoldCheck = (question) => {
  const { group, windows, waves } = question.facts;
  const { turnRequest } = question.targeted.member;
  const rollout = group.pool?.spec.rollout;
  if (windows.open || rollout?.emergency !== undefined || isRevertOfPayload(question)) return null;
  const finishesWave = turnRequest === undefined && rollout?.windows?.overrun === 'finish-wave' && isUnderWay(waves);
  return finishesWave ? null : hold('window', windows.because);
};

const isUnderWay = (waves: WaveProgress | null): boolean =>
  waves?.waves.some(({ state, startedAt }) => state === 'rolling' && startedAt !== undefined) === true;
