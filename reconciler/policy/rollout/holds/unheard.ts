import { firstFew } from '#shared/runtime/first-few.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

/** Nobody begins on the word of statuses that may be from the past: any of these nodes may be in the middle of a change. */
export const unheard: HoldCheck = ({ facts: { doubted = [] } }) =>
  doubted.length === 0
    ? null
    : hold(
        'unheard',
        `the cluster may have been restored from a backup, and these nodes have not reported since: ${firstFew(doubted)}`,
      );
