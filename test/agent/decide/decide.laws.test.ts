import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { decide } from '#agent/decide/decide.ts';
import { afterFailedSave } from '#agent/decide/save-failed.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { activeOf, rejectionOf, sameConfig, type State, type Target } from '#agent/decide/state.ts';
import { type Behaviour, createModelNode, describeNode, type ModelNode } from '../../support/agent/model-node.ts';
import { arbitraryObservation, arbitraryState } from '../../support/agent/arbitrary.ts';
import { A, B, C, seen, wanting } from '../../support/agent/states.ts';

const RUNS = { numRuns: 1500 };

describe('laws of a single decision, for every state and every observation', () => {
  it('the last thing installed is what the next state says is active', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const { next, actions } = decide(state, observation);
        const install = actions.findLast((action) => action.do === 'install');
        const installed = install === undefined ? activeOf(state) : install.target;
        assert.ok(sameConfig(installed, activeOf(next)));
      }),
      RUNS,
    );
  });

  it('the same observation twice restarts the kubelet at most once', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const first = decide(state, observation);
        const second = decide(first.next, observation);
        const restarts = [...first.actions, ...second.actions].filter((action) => action.do === 'restart-kubelet');
        assert.ok(restarts.length <= 1);
      }),
      RUNS,
    );
  });

  it('no restart is ordered before the files are in place, and none in the same breath as an installation', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const { actions } = decide(state, observation);
        if (!actions.some((action) => action.do === 'restart-kubelet')) return;
        assert.ok(!actions.some((action) => action.do === 'install'));
      }),
      RUNS,
    );
  });

  it('lastKnownGood becomes only what proved itself, what runs already, what was fallen back to, or local', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const good = decide(state, observation).next.lastKnownGood;
        if (good === null || sameConfig(good, state.lastKnownGood)) return;
        const { doing } = state;
        if (doing.phase === 'idle')
          return assert.ok(observation.runsStaged && sameConfig(good, observation.staged?.config ?? null));
        if (doing.phase === 'falling-back') return assert.ok(sameConfig(good, doing.to));
        assert.ok(doing.phase === 'trial' && doing.change.step === 'judge' && sameConfig(good, doing.config));
        assert.equal(observation.health.health === 'ok' || observation.health.health === 'off', true);
      }),
      RUNS,
    );
  });

  it('without news of an assignment, nothing is staged and nothing new is tried', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const { next, actions } = decide(state, { ...observation, intent: { intent: 'unknown' } });
        assert.ok(!actions.some((action) => action.do === 'stage'));
        if (next.doing.phase !== 'trial' || state.doing.phase === 'trial') return;
        assert.ok(sameConfig(next.doing.config, state.lastKnownGood), 'what drifted is nothing new');
      }),
      RUNS,
    );
  });

  it('what drifted is put back or tried over only after it has passed a check for that since the look before', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        if (state.doing.phase !== 'idle') return;
        const { next, actions } = decide(state, observation);
        const isPutBack = actions.some((action) => action.do === 'repair');
        const isOver = next.doing.phase === 'trial' && sameConfig(next.doing.config, state.lastKnownGood);
        if (!isPutBack && !isOver) return;
        const { rechecked, repairAges } = observation;
        assert.deepEqual([rechecked?.isNew, rechecked?.result.outcome], [true, 'ready']);
        assert.equal(rechecked?.remedy, isPutBack ? 'put-back' : 'try-over');
        assert.ok(sameConfig(rechecked?.config ?? null, state.lastKnownGood));
        if (isPutBack) assert.ok(repairAges.filter((ageMs) => ageMs < 3_600_000).length < 4);
      }),
      { numRuns: 6_000 },
    );
  });

  it('without a turn, a node at rest with what is wanted stays at rest', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const { intent } = observation;
        const isThere = intent.intent === 'config' && sameConfig(intent.config, state.lastKnownGood);
        const isAtRest = state.doing.phase === 'idle' && (isThere || intent.intent === 'unknown');
        if (!isAtRest || (intent.intent === 'config' && intent.turn === observation.fingerprint)) return;
        const { next, actions } = decide(state, observation);
        assert.equal(next.doing.phase, 'idle');
        assert.ok(!actions.some((action) => action.do === 'restart-kubelet' || action.do === 'reboot'));
      }),
      { numRuns: 6_000 },
    );
  });

  it('a rejected config that is still assigned is neither staged nor put on trial', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const { assigned } = state;
        if (assigned === null || rejectionOf(state, assigned) === undefined) return;
        if (sameConfig(activeOf(state), assigned)) return;
        const { next, actions } = decide(state, { ...observation, intent: { intent: 'config', config: assigned } });
        assert.ok(!actions.some((action) => action.do === 'stage' && sameConfig(action.config, assigned)));
        assert.ok(next.doing.phase !== 'trial' || !sameConfig(next.doing.config, assigned));
      }),
      RUNS,
    );
  });

  it('what cannot be written down starts no trial, promotes nothing and installs nothing new, but always goes back', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const decision = decide(state, observation);
        const { next, actions } = afterFailedSave(state, decision, DEFAULT_TIMING);
        const wentBack = decision.next.doing.phase === 'falling-back' || decision.next.doing.phase === 'broken';
        if (wentBack) return assert.equal(next, decision.next);
        assert.ok(sameConfig(next.lastKnownGood, state.lastKnownGood) && sameConfig(activeOf(next), activeOf(state)));
        assert.ok(actions.every((action) => action.do !== 'install' || sameConfig(action.target, activeOf(state))));
        assert.ok(!actions.some((action) => action.do === 'collect-garbage'));
      }),
      RUNS,
    );
  });
});

type Event =
  | { readonly event: 'want'; readonly intent: Observation['intent'] }
  | { readonly event: 'steps'; readonly count: number }
  | { readonly event: 'agent dies'; readonly after: number }
  | { readonly event: 'reboot' };

const intents = fc.constantFrom<Observation['intent'][]>(...[A, B, C, null].map((target) => wanting(target).intent), {
  intent: 'unknown',
});
const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ event: fc.constant('want' as const), intent: intents }) },
    {
      weight: 3,
      arbitrary: fc.record({ event: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 8 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ event: fc.constant('agent dies' as const), after: fc.integer({ min: 0, max: 2 }) }),
    },
    fc.constant({ event: 'reboot' as const }),
  ),
  { maxLength: 20 },
);
const behaviours = fc.tuple(
  ...[A, B, C].map(() => fc.constantFrom<Behaviour[]>('good', 'good', 'dies', 'hangs', 'shadowed', 'refused')),
);

/** Enough looks for a trial, a fallback and another fallback. */
const LONG = 60;

function live(history: readonly Event[], [a, b, c]: readonly Behaviour[], watch: (node: ModelNode) => void): ModelNode {
  const behaviourOf = (target: Target): Behaviour => {
    const index = [A, B, C].findIndex((each) => sameConfig(each, target));
    return [a, b, c][index] ?? 'good';
  };
  const node = createModelNode(behaviourOf);
  for (const event of history) {
    if (event.event === 'want') node.want(event.intent);
    if (event.event === 'reboot') node.reboot();
    if (event.event === 'agent dies') node.step(event.after);
    for (let look = 0; event.event === 'steps' && look < event.count; look += 1) {
      node.step();
      watch(node);
    }
  }
  return node;
}

const nothing = (): void => undefined;

describe('laws of a node with a good local config, whatever is assigned, crashes or is rebooted', () => {
  it('it comes to rest on a healthy config, and then nothing happens any more', () => {
    fc.assert(
      fc.property(events, behaviours, intents, (history, how, last) => {
        const node = live(history, how, nothing);
        node.want(last);
        for (let look = 0; look < LONG; look += 1) node.step();
        const [state, ordered] = [node.state, node.ordered()];
        assert.equal(state.doing.phase, 'idle', describeNode(node));
        assert.ok(sameConfig(node.installed(), activeOf(state)), describeNode(node));
        assert.ok(sameConfig(node.running(), node.installed()), describeNode(node));
        for (let look = 0; look < LONG; look += 1) assert.deepEqual(node.step().actions, []);
        assert.equal(node.state, state);
        assert.equal(node.ordered(), ordered);
      }),
      { numRuns: 400 },
    );
  });

  it('a good config that is assigned is what it runs in the end; a bad one never is', () => {
    fc.assert(
      fc.property(events, behaviours, fc.constantFrom(A, B, C), (history, how, wanted) => {
        const node = live(history, how, nothing);
        node.want(wanting(wanted).intent);
        for (let look = 0; look < LONG; look += 1) node.step();
        const good = how[[A, B, C].indexOf(wanted)] === 'good';
        assert.equal(sameConfig(node.running(), wanted), good, describeNode(node));
        assert.equal(sameConfig(node.state.assigned, wanted), true);
        assert.equal(node.state.error === null, good);
      }),
      { numRuns: 400 },
    );
  });

  it('an assignment costs at most one restart when it is good, and two when it has to be taken back', () => {
    fc.assert(
      fc.property(behaviours, fc.array(fc.constantFrom(A, B, C, null), { maxLength: 6 }), (how, wishes) => {
        const node = live([], how, nothing);
        for (const wish of wishes) {
          const before = node.ordered();
          node.want(wanting(wish).intent);
          for (let look = 0; look < LONG; look += 1) node.step();
          const good = wish === null || how[[A, B, C].indexOf(wish)] === 'good';
          assert.ok(node.ordered() - before <= (good ? 1 : 2), describeNode(node));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('at every look an idle node runs what it knows to be good, and what is assigned is that or rejected', () => {
    const watch = ({ state }: ModelNode): void => {
      const { assigned, doing, lastKnownGood } = state;
      if (doing.phase !== 'idle' || assigned === null || sameConfig(assigned, lastKnownGood)) return;
      assert.notEqual(rejectionOf(state, assigned), undefined, JSON.stringify(state));
    };
    fc.assert(
      fc.property(events, behaviours, (history, how) => void live(history, how, watch)),
      { numRuns: 400 },
    );
  });
});

describe('a decision', () => {
  it('leaves what it was given as it was', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        decide(freeze(structuredClone(state)), freeze(structuredClone(observation)));
      }),
    );
  });

  it('asks to be made again in time, always', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state: State, observation) => {
        const { recheckAfterMs } = decide(state, seen(observation));
        assert.ok(recheckAfterMs >= 0 && recheckAfterMs <= DEFAULT_TIMING.idleMs);
      }),
      RUNS,
    );
  });
});
