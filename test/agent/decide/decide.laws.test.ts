import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forAll, forAllOf } from '../../support/property.ts';
import { decide } from '#agent/decide/decide.ts';
import { afterFailedSave } from '#agent/decide/save-failed.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { activeOf, rejectionOf, sameConfig, type State } from '#agent/decide/state.ts';
import { arbitraryObservation, arbitraryState } from '../../support/agent/arbitrary.ts';
import { seen } from '../../support/agent/states.ts';

const RUNS = 1500;

describe('laws of a single decision, for every state and every observation', () => {
  it('the last thing installed is what the next state says is active', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const { next, actions } = decide(state, observation);
      const install = actions.findLast((action) => action.do === 'install');
      const installed = install === undefined ? activeOf(state) : install.target;
      assert.ok(sameConfig(installed, activeOf(next)));
    });
  });

  it('the same observation twice restarts the kubelet at most once', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const first = decide(state, observation);
      const second = decide(first.next, observation);
      const restarts = [...first.actions, ...second.actions].filter((action) => action.do === 'restart-kubelet');
      assert.ok(restarts.length <= 1);
    });
  });

  it('no restart is ordered before the files are in place, and none in the same breath as an installation', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const { actions } = decide(state, observation);
      if (!actions.some((action) => action.do === 'restart-kubelet')) return;
      assert.ok(!actions.some((action) => action.do === 'install'));
    });
  });

  it('lastKnownGood becomes only what proved itself, what runs already, what was fallen back to, or local', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const good = decide(state, observation).next.lastKnownGood;
      if (good === null || sameConfig(good, state.lastKnownGood)) return;
      const { doing } = state;
      if (doing.phase === 'idle')
        return assert.ok(observation.runsStaged && sameConfig(good, observation.staged?.config ?? null));
      if (doing.phase === 'falling-back') return assert.ok(sameConfig(good, doing.to));
      assert.ok(doing.phase === 'trial' && doing.change.step === 'judge' && sameConfig(good, doing.config));
      assert.equal(observation.health.health === 'ok' || observation.health.health === 'off', true);
    });
  });

  it('without news of an assignment, nothing is staged and nothing new is tried', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const { next, actions } = decide(state, { ...observation, intent: { intent: 'unknown' } });
      assert.ok(!actions.some((action) => action.do === 'stage'));
      if (next.doing.phase !== 'trial' || state.doing.phase === 'trial') return;
      assert.ok(sameConfig(next.doing.config, state.lastKnownGood), 'what drifted is nothing new');
    });
  });

  it('what drifted is put back or tried over only after it has passed a check for that since the look before', () => {
    forAllOf(6_000, arbitraryState, arbitraryObservation, (state, observation) => {
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
    });
  });

  it('without a turn, a node at rest with what is wanted stays at rest', () => {
    forAllOf(6_000, arbitraryState, arbitraryObservation, (state, observation) => {
      const { intent } = observation;
      const isThere = intent.intent === 'config' && sameConfig(intent.config, state.lastKnownGood);
      const isAtRest = state.doing.phase === 'idle' && (isThere || intent.intent === 'unknown');
      if (!isAtRest || (intent.intent === 'config' && intent.turn === observation.fingerprint)) return;
      const { next, actions } = decide(state, observation);
      assert.equal(next.doing.phase, 'idle');
      assert.ok(!actions.some((action) => action.do === 'restart-kubelet' || action.do === 'reboot'));
    });
  });

  it('a rejected config that is still assigned is neither staged nor put on trial', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const { assigned } = state;
      if (assigned === null || rejectionOf(state, assigned) === undefined) return;
      if (sameConfig(activeOf(state), assigned)) return;
      const { next, actions } = decide(state, { ...observation, intent: { intent: 'config', config: assigned } });
      assert.ok(!actions.some((action) => action.do === 'stage' && sameConfig(action.config, assigned)));
      assert.ok(next.doing.phase !== 'trial' || !sameConfig(next.doing.config, assigned));
    });
  });

  it('what cannot be written down starts no trial, promotes nothing and installs nothing new, but always goes back', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state, observation) => {
      const decision = decide(state, observation);
      const { next, actions } = afterFailedSave(state, decision, DEFAULT_TIMING);
      const wentBack = decision.next.doing.phase === 'falling-back' || decision.next.doing.phase === 'broken';
      if (wentBack) return assert.equal(next, decision.next);
      assert.ok(sameConfig(next.lastKnownGood, state.lastKnownGood) && sameConfig(activeOf(next), activeOf(state)));
      assert.ok(actions.every((action) => action.do !== 'install' || sameConfig(action.target, activeOf(state))));
      assert.ok(!actions.some((action) => action.do === 'collect-garbage'));
    });
  });
});

describe('a decision', () => {
  it('leaves what it was given as it was', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    forAll(arbitraryState, arbitraryObservation, (state, observation) => {
      decide(freeze(structuredClone(state)), freeze(structuredClone(observation)));
    });
  });

  it('asks to be made again in time, always', () => {
    forAllOf(RUNS, arbitraryState, arbitraryObservation, (state: State, observation) => {
      const { recheckAfterMs } = decide(state, seen(observation));
      assert.ok(recheckAfterMs >= 0 && recheckAfterMs <= DEFAULT_TIMING.idleMs);
    });
  });
});
