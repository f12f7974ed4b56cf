import type { Millis } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { assignmentOf, hasProved } from '../node-progress.ts';
import { isProven } from '../on-trial.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

/** However long a trial takes, something newer waits for it no longer than this. */
const LONGEST_REST_MS: Millis = 15 * 60_000;

/** From here on, commits come too fast for a node that took one of them back to try each. */
const MANY_SUPERSEDED = 3;

/**
 * It was told another config lately and is well with it: commits that come faster than trials end do not restart it each time. What is
 * proven, or taken back, does not wait, nor does a node that may need it. Who took the other one back tries a fix at once, but not one
 * after the other.
 */
export const rest: HoldCheck = ({ targeted: { targetKind, member }, facts: { group, present, now } }) => {
  const { node, kubeletNode, lifecycle, target } = member;
  const { phase, trial } = kubeletNode?.status ?? {};
  const isWell = node.ready && phase !== 'FallingBack' && phase !== 'Broken' && (trial?.restarts ?? 0) === 0;
  const tookBack = !lifecycle.inChange && !hasProved(kubeletNode, assignmentOf(kubeletNode));
  const rests = lifecycle.inChange || (tookBack && (present?.status?.rollout?.superseded ?? 0) >= MANY_SUPERSEDED);
  if (targetKind !== 'config' || !rests || !isWell || isProven(group, node.name, target)) return null;
  const trialMs = parseDuration(kubeletNode?.spec?.trial?.duration ?? '') ?? 0;
  const until = (node.toldSince ?? 0) + Math.min(trialMs, LONGEST_REST_MS);
  return now < until
    ? hold('rest', 'it was told another config lately, and ends the trial of that or rests before it tries this one')
    : null;
};
