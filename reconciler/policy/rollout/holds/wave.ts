import { hold } from './hold.ts';
import type { HoldCheck } from './question.ts';

const JOINED = 'it joined after this rollout began, and follows after the last wave';

/** Its wave has not come, or is full. What a node was told already, and what it is to go back to, goes in no wave. */
export const wave: HoldCheck = ({ aimed: { aim, member }, facts: { waves, cohort }, room }) => {
  if (aim !== 'config' || member.wasTold || waves === null || waves.current === null) return null;
  if (!cohort.has(member.node.name)) return hold('wave', JOINED);
  const isOut = waves.current.only?.(member) === false;
  return isOut || room <= 0 ? hold('wave', waves.because) : null;
};
