import type { WaveProgress } from '../wave-progress.ts';
import { hold } from './hold.ts';
import { endsHarm, type HoldCheck } from './question.ts';

/**
 * No maintenance window is open. An emergency waits for none, and a wave that began may be finished where the pool says so, to which
 * restarts that nodes ask for do not belong.
 */
export const windowClosed: HoldCheck = (question) => {
  const { group, windows, waves } = question.facts;
  const { asks } = question.aimed.member;
  const rollout = group.pool?.spec.rollout;
  if (windows.open || rollout?.emergency !== undefined || endsHarm(question)) return null;
  const finishesWave = asks === undefined && rollout?.windows?.overrun === 'finish-wave' && isUnderWay(waves);
  return finishesWave ? null : hold('window', windows.because);
};

const isUnderWay = (waves: WaveProgress | null): boolean =>
  waves?.waves.some(({ state, startedAt }) => state === 'rolling' && startedAt !== undefined) === true;
