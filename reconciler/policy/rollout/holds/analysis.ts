import { hold } from './hold.ts';
import type { HoldCheck } from './question.ts';

/** The measures of the canaries have yet to be compared, or speak against the config. */
export const analysisPending: HoldCheck = ({ aimed: { aim, member }, facts: { analysis } }) => {
  if (aim !== 'config' || member.wasTold || analysis === undefined) return null;
  const { verdict, message } = analysis;
  return verdict === 'pass' || verdict === 'unknown' ? null : hold('analysis', `the canaries are compared: ${message}`);
};
