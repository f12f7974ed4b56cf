import { hold } from './hold.ts';
import { isProven } from '../on-trial.ts';
import type { HoldCheck } from './hold-question.ts';

const JOINED = 'it joined after this rollout began, and follows after the last wave';

/**
 * Its wave has not come, or is full, or its class waits for canaries of its own. What a node was told already, what it is to go back to,
 * and what its class has proven goes in no wave.
 */
export const wave: HoldCheck = ({
  targeted: { targetKind, configName, member },
  facts,
  room,
  classLimit,
  readyFirst,
}) => {
  const { waves, cohort, group } = facts;
  if (targetKind !== 'config' || member.isAssigned || waves === null) return null;
  if (isProven(group, member.node.name, member.target)) return null;
  // Who is drained for this config has begun.
  const begins = member.node.drain?.config !== (configName ?? 'local');
  if (waves.unwritten !== null && begins) return hold('wave', waves.unwritten);
  const joined = !cohort.has(member.node.name);
  if (waves.current !== null) {
    if (joined) return hold('wave', JOINED);
    const isOut = waves.current.only?.(member) === false;
    if (isOut || (begins && room <= 0)) return hold('wave', waves.because);
  }
  if (classLimit !== undefined && classLimit.room <= 0) return hold('wave', classLimit.because);
  const isLimited = waves.current?.name === 'canary' || classLimit !== undefined;
  if (!isLimited || !begins || readyFirst === undefined) return null;
  return hold('wave', `it is not Ready, and proves nothing: ${readyFirst} is Ready, and tries the config first`);
};
