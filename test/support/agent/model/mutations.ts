import { decide } from '#agent/decide/decide.ts';
import type { Action, Decision } from '#agent/decide/decision.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { activeOf, IDLE, type State } from '#agent/decide/state.ts';
import { nodeReportOf } from '#agent/report/kubelet-node-status.ts';
import type { InvariantName } from '../invariants.ts';
import { MACHINE, type Machine } from './world.ts';

type See = (seen: Observation, state: State) => Partial<Observation>;

/** A policy that takes what it sees for something else. */
const seeing = (see: See): Machine => ({
  ...MACHINE,
  decide: (state, seen, pace) => decide(state, { ...seen, ...see(seen, state) }, pace),
});

/** A policy that decides something else in the end. */
const deciding = (change: (decision: Decision, seen: Observation, before: State) => Decision): Machine => ({
  ...MACHINE,
  decide: (state, seen, pace) => change(decide(state, seen, pace), seen, state),
});

function withoutStarter(seen: Observation): Observation {
  const { starter: _, ...rest } = seen;
  return rest;
}

const without = (what: Action['do']): Machine =>
  deciding((decision) => ({ ...decision, actions: decision.actions.filter((action) => action.do !== what) }));

const alsoDoing = (action: (decision: Decision, seen: Observation) => Action | undefined): Machine =>
  deciding((decision, seen) => {
    const more = action(decision, seen);
    return more === undefined ? decision : { ...decision, actions: [...decision.actions, more] };
  });

const restart = (decision: Decision): Action => ({
  do: 'restart-kubelet',
  because: 'somebody thought so',
  target: activeOf(decision.next),
});

/** For every invariant, a mistake that it is there to find. */
export const MISTAKES: Readonly<Record<InvariantName, readonly [what: string, machine: () => Machine]>> = {
  noRestartWithoutReason: [
    'restarts the kubelet when the agent starts',
    () => alsoDoing((decision, { first }) => (first ? restart(decision) : undefined)),
  ],
  noRestartWithoutTurn: [
    'takes its own request for a turn',
    () =>
      seeing(({ intent, fingerprint }) =>
        intent.intent === 'config' ? { intent: { ...intent, turn: fingerprint } } : {},
      ),
  ],
  boundedRestarts: [
    'restarts every kubelet that is down',
    () => alsoDoing((decision, { health }) => (health.health === 'ok' ? undefined : restart(decision))),
  ],
  rejectedIsNotTriedAgain: [
    'forgets what it rejected',
    () => ({ ...MACHINE, decide: (state, seen, pace) => decide({ ...state, rejected: [] }, seen, pace) }),
  ],
  localIsNeverLost: [
    'leaves while a config is on trial',
    () => alsoDoing(({ next: { doing } }) => (doing.phase === 'trial' ? { do: 'leave' } : undefined)),
  ],
  healthyTimeOnlyPromotes: [
    'adds up the healthy time of several runs',
    () =>
      deciding((decision, _seen, before) => {
        const [was, doing] = [before.doing, decision.next.doing];
        if (was.phase !== 'trial' || doing.phase !== 'trial') return decision;
        if (was.change.step !== 'judge' || doing.change.step !== 'judge') return decision;
        const healthyMs = Math.max(was.change.judged.healthyMs, doing.change.judged.healthyMs);
        const change = { step: 'judge', judged: { ...doing.change.judged, healthyMs } } as const;
        return { ...decision, next: { ...decision.next, doing: { ...doing, change } } };
      }),
  ],
  badIsNeverKnownGood: [
    'takes every kubelet for a healthy one',
    () =>
      seeing(({ service }) => ({
        health: { health: 'ok' },
        running: { running: 'as-meant' },
        service: { state: 'running', run: service.run, automaticRestarts: 0 },
      })),
  ],
  rebootIsNoCrash: [
    'takes a boot for a crash',
    () => seeing(({ service }) => ({ bootId: 'boot-1', service: { ...service, automaticRestarts: null } })),
  ],
  goodIsNotBlamed: [
    'takes a Node that it cannot read for one that is not Ready',
    () => seeing(({ nodeReady }) => ({ nodeReady: nodeReady === 'unknown' ? 'no' : nodeReady })),
  ],
  silenceIsNoVerdict: [
    'takes silence for a verdict',
    () => ({
      ...MACHINE,
      decide(state, seen, pace) {
        const { doing } = state;
        const isTold = doing.phase === 'trial' && seen.guard.guard === 'fired';
        const before = isTold ? { ...state, doing: { ...doing, unwatched: 2 } } : state;
        return decide(before, seen, pace);
      },
    }),
  ],
  stoppedStaysStopped: [
    'does not know who stopped the kubelet',
    () => seeing(({ service }) => ({ service: { ...service, wasStopped: false } })),
  ],
  waitingIsLeftAlone: [
    'takes a kubelet that has not begun for one that hangs',
    () => ({ ...MACHINE, decide: (state, seen, pace) => decide(state, withoutStarter(seen), pace) }),
  ],
  trialIsGuarded: ['does without a guard', () => seeing(() => ({ guard: { guard: 'none', why: 'forgotten' } }))],
  guardArmedOnlyInTrial: ['never disarms the guard', () => without('disarm-guard')],
  restIsAccountedFor: [
    'stages nothing',
    () =>
      deciding((decision, { intent }, before) =>
        intent.intent === 'config' && before.doing.phase === 'idle'
          ? { next: before, actions: [], recheckAfterMs: 60_000 }
          : decision,
      ),
  ],
  comesToRest: ['never counts healthy time', () => seeing(() => ({ elapsedMs: 0 }))],
  assignedOrLastKnownGoodRuns: [
    'takes the way back for done when it is decided',
    () =>
      deciding((decision) =>
        decision.next.doing.phase === 'falling-back'
          ? { next: { ...decision.next, doing: IDLE }, actions: [], recheckAfterMs: 60_000 }
          : decision,
      ),
  ],
  assignedIsTriedOrRejected: [
    'hears nothing of assignments',
    () => seeing(({ intent }) => (intent.intent === 'config' ? { intent: { intent: 'unknown' } } : {})),
  ],
  unassignEndsInLocal: [
    'hears nothing of unassignments',
    () => seeing(({ intent }) => (intent.intent === 'local' ? { intent: { intent: 'unknown' } } : {})),
  ],
  uninstallLeavesNothing: ['never leaves', () => without('leave')],
  filesAreAsMeant: ['repairs nothing', () => without('repair')],
  neverSpins: ['looks again at once', () => deciding((decision) => ({ ...decision, recheckAfterMs: 0 }))],
  readyIsTakenUp: [
    'calls a node well by what runs, whatever is assigned',
    () => ({
      ...MACHINE,
      account: (told) =>
        nodeReportOf({
          ...told,
          state: { ...told.state, error: null },
          seen: { ...told.seen, intent: { intent: 'unknown' } },
          unsaved: null,
        }),
    }),
  ],
  stepsEnd: [
    'does not count how long a step takes',
    () => ({ ...MACHINE, decide: (state, seen, pace) => decide(withoutSpent(state), seen, pace) }),
  ],
  onlyWhatIsDownIsStarted: [
    'starts the kubelet when the agent starts',
    () =>
      alsoDoing(({ next }, { first }) =>
        first ? { do: 'start-kubelet', because: 'somebody thought so', target: activeOf(next) } : undefined,
      ),
  ],
  downIsStarted: ['starts no kubelet that is down', () => without('start-kubelet')],
  clockJumpsChangeNothing: ['trusts the wall clock', trustingTheWallClock],
};

function withoutSpent(state: State): State {
  const { doing } = state;
  if (doing.phase !== 'trial' || (doing.change.step !== 'install' && doing.change.step !== 'restart')) return state;
  return { ...state, doing: { ...doing, change: { ...doing.change, spentMs: 0 } } };
}

function trustingTheWallClock(): Machine {
  let lastAt: number | undefined;
  return seeing(({ at, first }) => {
    const now = Date.parse(at);
    const elapsedMs = first || lastAt === undefined ? 0 : Math.max(0, now - lastAt);
    lastAt = now;
    return { elapsedMs };
  });
}
