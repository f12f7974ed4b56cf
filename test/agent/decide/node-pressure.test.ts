import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll, forAllOf } from '../../support/property.ts';
import { decide } from '#agent/decide/decide.ts';
import { pressureSince } from '#agent/decide/node-pressure.ts';
import { sameConfig, type State } from '#agent/decide/state.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { arbitraryObservation, arbitraryState, strains } from '../../support/agent/arbitrary.ts';
import { table } from '../../support/agent/decision-table.ts';
import { judging, onTrial } from '../../support/agent/states.ts';
import { counting, killed, looksAt, MEMORY, tired, under, UNSEEN } from './support/node-pressure.ts';

const almost = judging({ healthy: false, unhealthyMs: 9_999 });
const nearlyGood = judging({ healthyMs: 595_000 });
const going = 'trial (judge): B, good A';
const back = 'falling-back (install): B, active A, NodeHarmed';
const good = 'idle: B';

table('a trial that does harm', {
  'pressure just came': [onTrial(almost, { strain: under() }), looksAt(MEMORY), going],
  'pressure for 15 s': [onTrial(tired, { strain: under() }), looksAt(MEMORY), `${back} → install A`],
  'on the disk': [
    onTrial(tired, { strain: MEMORY }),
    looksAt(under('DiskPressure', 'MemoryPressure')),
    `${back} → install A`,
  ],
  'pods out of memory': [onTrial(tired, { strain: killed(2) }), looksAt(killed(3)), `${back} → install A`],
  'after a reboot': [onTrial(tired, { strain: killed(9, 'boot-0') }), looksAt(killed(1)), `${back} → install A`],
  'pods evicted': [
    onTrial(tired, { strain: counting({}) }),
    looksAt(counting({ 'evicted memory.available': 1 })),
    `${back} → install A`,
  ],
  'pods evicted, more than by the run before': [
    onTrial(tired, { strain: counting({ 'evicted memory.available': 3 }) }),
    looksAt(counting({ 'evicted memory.available': 4 })),
    `${back} → install A`,
  ],
  'pods refused, beside evictions as before': [
    onTrial(tired, { strain: counting({ 'evicted memory.available': 3 }) }),
    looksAt(counting({ 'evicted memory.available': 3, 'refused OutOfmemory': 1 })),
    `${back} → install A`,
  ],
  'in a cgroup that was not there': [onTrial(tired, { strain: under() }), looksAt(killed(1)), `${back} → install A`],
  'at the very end': [onTrial(nearlyGood, { strain: under() }), looksAt(MEMORY), going],
  'with its Node not Ready either': [
    onTrial(tired, { strain: under() }),
    looksAt(MEMORY, { nodeReady: 'no' }),
    `${back} → install A`,
  ],
  'and was not Ready before': [
    onTrial(tired, { wasReady: false, strain: under() }),
    looksAt(MEMORY),
    `${back} → install A`,
  ],
});

table('what a trial is not blamed for', {
  'pressure that was there before': [
    onTrial(nearlyGood, { strain: MEMORY }),
    looksAt(MEMORY),
    `${good} → collect-garbage`,
  ],
  'pressure that went': [onTrial(nearlyGood, { strain: MEMORY }), looksAt(under()), `${good} → collect-garbage`],
  'as many pods out of memory as before': [
    onTrial(nearlyGood, { strain: killed(3) }),
    looksAt(killed(3)),
    `${good} → collect-garbage`,
  ],
  'what nobody saw before': [
    onTrial(nearlyGood, { strain: UNSEEN }),
    looksAt({ ...killed(3), pressures: ['PIDPressure'] }),
    `${good} → collect-garbage`,
  ],
  'as many pods evicted and refused as before': [
    onTrial(nearlyGood, { strain: counting({ 'evicted memory.available': 2, 'refused OutOfcpu': 1 }) }),
    looksAt(counting({ 'evicted memory.available': 2, 'refused OutOfcpu': 1 })),
    `${good} → collect-garbage`,
  ],
  'pods that passed their own limits, met devices that are not back, or were sent to the wrong node': [
    onTrial(nearlyGood, { strain: counting({}) }),
    looksAt(
      counting({
        'evicted emptydirfs.limit': 1,
        'evicted ephemeralpodfs.limit': 1,
        'refused UnexpectedAdmissionError': 2,
        'refused NodeShutdown': 1,
        'refused Other': 1,
        'refused OutOfexample.com/gpu': 1,
      }),
    ),
    `${good} → collect-garbage`,
  ],
  'pods that nobody counted before': [
    onTrial(nearlyGood, { strain: counting(null) }),
    looksAt(counting({ 'evicted memory.available': 9 })),
    `${good} → collect-garbage`,
  ],
  'pods that nobody counts now': [
    onTrial(nearlyGood, { strain: counting({}) }),
    looksAt(counting(null)),
    `${good} → collect-garbage`,
  ],
  'what could not be seen before': [onTrial(nearlyGood), looksAt(MEMORY), `${good} → collect-garbage`],
  'what cannot be seen now': [onTrial(nearlyGood, { strain: under() }), looksAt(UNSEEN), `${good} → collect-garbage`],
});

describe('laws of harm', () => {
  it('nothing that was so before is harm, and nothing unseen is', () => {
    forAll(strains, strains, (before, now) => {
      assert.deepEqual(pressureSince(before, before), []);
      assert.deepEqual(pressureSince({ ...before, pressures: null, outOfMemory: null, pods: null }, now), []);
      assert.deepEqual(pressureSince(before, { ...now, pressures: null, outOfMemory: null, pods: null }), []);
    });
  });

  it('a config is never promoted by a look that sees it do harm', () => {
    forAllOf(2_000, arbitraryState, arbitraryObservation, (state, observation) => {
      if (state.doing.phase !== 'trial' || state.doing.change.step !== 'judge') return;
      if (pressureSince(state.doing.strain, observation.strain).length === 0) return;
      // An agent that died while it wrote the promotion down left it behind: that was decided before.
      if (sameConfig(state.lastKnownGood, state.doing.config)) return;
      assert.ok(!sameConfig(decide(state, observation).next.lastKnownGood, state.doing.config));
    });
  });

  it('what goes on doing harm ends within the patience of a contradiction and one look', () => {
    forAll(strains, strains, fc.integer({ min: 1, max: 5_000 }), (before, now, stepMs) => {
      if (pressureSince(before, now).length === 0) return;
      let state: State = onTrial(judging(), { strain: before });
      let spentMs = 0;
      while (state.doing.phase === 'trial' && spentMs <= DEFAULT_TIMING.contradictedMs + 2 * stepMs) {
        state = decide(state, looksAt(now, { elapsedMs: stepMs, bootId: 'boot-1' })).next;
        spentMs += stepMs;
      }
      assert.equal(state.error?.reason, 'NodeHarmed');
    });
  });

  it('where there is none, decisions are the same as if nobody had asked', () => {
    const without = (state: State): State => {
      if (state.doing.phase !== 'trial') return state;
      return { ...state, doing: { ...state.doing, strain: UNSEEN } };
    };
    forAll(arbitraryState, arbitraryObservation, (state, observation) => {
      const strain = state.doing.phase === 'trial' ? state.doing.strain : UNSEEN;
      if (pressureSince(strain, observation.strain).length > 0) return;
      const asked = decide(state, observation);
      const unasked = decide(without(state), observation);
      if (asked.next.doing.phase === 'trial' && state.doing.phase === 'trial')
        assert.deepEqual(without(asked.next), without(unasked.next));
      assert.deepEqual(
        asked.actions.map((action) => action.do),
        unasked.actions.map((action) => action.do),
      );
    });
  });
});
