import type { Decision } from './decision.ts';
import { fallBackAfterAbsence, provenByBoot, withBootGuard } from './boot-guard.ts';
import { watchBroken } from './broken.ts';
import { withPreflightCheck } from './preflight-candidate.ts';
import { withFailingKubelet } from './failing-kubelet.ts';
import { continueFallingBack } from './fall-back.ts';
import { restOrRepair } from './drift.ts';
import { withGuard } from './trial-guard.ts';
import { applyAssignment } from './apply-assignment.ts';
import { withKubeletNode, withObeyedOrder } from './assignment/order.ts';
import { withUninstall } from './uninstall-when-idle.ts';
import { DEFAULT_TIMING, type AgentTiming } from './timing.ts';
import { withReboot } from './reboot.ts';
import { continueTrial } from './trial.ts';
import type { Observation } from './observation.ts';
import type { State } from './state.ts';

/**
 * The whole policy of the agent: from the node's state and an observation to the next state and the actions to be
 * done. No I/O, no clock, no chance; every state with every observation has an answer.
 *
 * - What the guard took back because no agent came up after a boot is not gone on with (`fallBackAfterAbsence`).
 * - What is wanted comes next (`heed`): it may stage a config, put it on trial, or send the node back.
 * - Otherwise the node goes on with what it is doing: a trial, the way back, or nothing.
 * - `next` is written to disk before the first action, because any of them can be the last thing this process does.
 */
export function decide(before: State, seen: Observation, pace: AgentTiming = DEFAULT_TIMING): Decision {
  const state = provenByBoot(withKubeletNode(before, seen), seen);
  const guarded = (decision: Decision): Decision => {
    const done = withReboot(state, withBootGuard(withGuard(decision, seen), seen));
    const next = withObeyedOrder(done.next, seen);
    return next === done.next ? done : { ...done, next };
  };
  const back = fallBackAfterAbsence(state, seen);
  if (back !== undefined) return guarded(back);
  const { outcome, decision } = applyAssignment(state, seen);
  if (outcome === 'turned') return guarded(decision);
  const onward = carryOn(decision.next, seen, pace);
  // A trial of another config needs to know first whether lastKnownGood is still good.
  const isChecking = onward.actions.some((action) => action.do === 'recheck');
  const whole: Decision = {
    next: onward.next,
    // What is wanted next is fetched whether or not the present change can go on.
    actions: [...(isChecking ? [] : decision.actions), ...onward.actions],
    recheckAfterMs: Math.min(onward.recheckAfterMs, decision.recheckAfterMs),
  };
  const settled = withFailingKubelet(state, withUninstall(whole, seen, pace), seen, pace);
  return guarded(withPreflightCheck(settled, seen));
}

function carryOn(state: State, seen: Observation, pace: AgentTiming): Decision {
  const { doing } = state;
  switch (doing.phase) {
    case 'idle':
      return restOrRepair(state, seen, pace);
    case 'trial':
      return continueTrial(state, doing, seen, pace);
    case 'falling-back':
      return continueFallingBack(state, doing, seen, pace);
    case 'broken':
      return watchBroken(state, doing, seen, pace);
  }
}
