import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { decide } from '#agent/decide/decide.ts';
import { harmSince, withStrainSoFar } from '#agent/decide/harm.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { type Change, sameConfig, type State, type Strain, type Trial } from '#agent/decide/state.ts';
import { PACE } from '#agent/decide/pace.ts';
import { arbitraryObservation, arbitraryState, strains } from '../../support/agent/arbitrary.ts';
import { differ, ready, run, table } from '../../support/agent/decision-table.ts';
import {
  B,
  C,
  DOWN,
  idle,
  INSTALLING,
  judging,
  onTrial,
  RESTARTING,
  seen,
  wanting,
} from '../../support/agent/states.ts';

const under = (...pressures: readonly string[]): Strain => ({ pressures, outOfMemory: {}, bootId: 'boot-1' });
const killed = (count: number, bootId = 'boot-1'): Strain => ({
  pressures: [],
  outOfMemory: { 'kubepods.slice': count },
  bootId,
});
const counting = (pods: Strain['pods']): Strain => ({
  pressures: [],
  outOfMemory: {},
  pods: pods ?? null,
  bootId: 'boot-1',
});
const MEMORY = under('MemoryPressure');
const REBOOTING: Change = { step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 };
const UNSEEN: Strain = { pressures: null, outOfMemory: null, bootId: 'boot-1' };
const almost = judging({ healthy: false, unhealthyMs: 9_999 });
const tired = judging({ healthy: false, unhealthyMs: 10_000 });
const nearlyGood = judging({ healthyMs: 595_000 });

const looksAt = (strain: Strain, ...parts: readonly Partial<Observation>[]): Observation =>
  seen(wanting(B), { strain }, ...parts);
const going = 'trial (judge): assigned B, active B, good A, no error';
const back = 'falling-back (install): assigned B, active A, good A, NodeHarmed';
const good = 'idle: assigned B, active B, good B, no error';

table('a trial that does harm', [
  ['pressure just came', onTrial(almost, { strain: under() }), looksAt(MEMORY), going, []],
  ['pressure for 15 s', onTrial(tired, { strain: under() }), looksAt(MEMORY), back, ['install A']],
  [
    'on the disk',
    onTrial(tired, { strain: MEMORY }),
    looksAt(under('DiskPressure', 'MemoryPressure')),
    back,
    ['install A'],
  ],
  ['pods out of memory', onTrial(tired, { strain: killed(2) }), looksAt(killed(3)), back, ['install A']],
  ['after a reboot', onTrial(tired, { strain: killed(9, 'boot-0') }), looksAt(killed(1)), back, ['install A']],
  [
    'pods evicted',
    onTrial(tired, { strain: counting({}) }),
    looksAt(counting({ 'evicted memory.available': 1 })),
    back,
    ['install A'],
  ],
  [
    'pods evicted, more than by the run before',
    onTrial(tired, { strain: counting({ 'evicted memory.available': 3 }) }),
    looksAt(counting({ 'evicted memory.available': 4 })),
    back,
    ['install A'],
  ],
  [
    'pods refused, beside evictions as before',
    onTrial(tired, { strain: counting({ 'evicted memory.available': 3 }) }),
    looksAt(counting({ 'evicted memory.available': 3, 'refused OutOfmemory': 1 })),
    back,
    ['install A'],
  ],
  ['in a cgroup that was not there', onTrial(tired, { strain: under() }), looksAt(killed(1)), back, ['install A']],
  ['at the very end', onTrial(nearlyGood, { strain: under() }), looksAt(MEMORY), going, []],
  [
    'with its Node not Ready either',
    onTrial(tired, { strain: under() }),
    looksAt(MEMORY, { nodeReady: 'no' }),
    back,
    ['install A'],
  ],
  [
    'and was not Ready before',
    onTrial(tired, { wasReady: false, strain: under() }),
    looksAt(MEMORY),
    back,
    ['install A'],
  ],
]);

table('what a trial is not blamed for', [
  [
    'pressure that was there before',
    onTrial(nearlyGood, { strain: MEMORY }),
    looksAt(MEMORY),
    good,
    ['collect-garbage'],
  ],
  ['pressure that went', onTrial(nearlyGood, { strain: MEMORY }), looksAt(under()), good, ['collect-garbage']],
  [
    'as many pods out of memory as before',
    onTrial(nearlyGood, { strain: killed(3) }),
    looksAt(killed(3)),
    good,
    ['collect-garbage'],
  ],
  [
    'what nobody saw before',
    onTrial(nearlyGood, { strain: UNSEEN }),
    looksAt({ ...killed(3), pressures: ['PIDPressure'] }),
    good,
    ['collect-garbage'],
  ],
  [
    'as many pods evicted and refused as before',
    onTrial(nearlyGood, { strain: counting({ 'evicted memory.available': 2, 'refused OutOfcpu': 1 }) }),
    looksAt(counting({ 'evicted memory.available': 2, 'refused OutOfcpu': 1 })),
    good,
    ['collect-garbage'],
  ],
  [
    'pods that passed their own limits, met devices that are not back, or were sent to the wrong node',
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
    good,
    ['collect-garbage'],
  ],
  [
    'pods that nobody counted before',
    onTrial(nearlyGood, { strain: counting(null) }),
    looksAt(counting({ 'evicted memory.available': 9 })),
    good,
    ['collect-garbage'],
  ],
  [
    'pods that an older release did not count',
    onTrial(nearlyGood, { strain: under() }),
    looksAt(counting({ 'evicted memory.available': 9 })),
    good,
    ['collect-garbage'],
  ],
  [
    'pods that nobody counts now',
    onTrial(nearlyGood, { strain: counting({}) }),
    looksAt(counting(null)),
    good,
    ['collect-garbage'],
  ],
  ['what an older release did not ask for', onTrial(nearlyGood), looksAt(MEMORY), good, ['collect-garbage']],
  ['what cannot be seen now', onTrial(nearlyGood, { strain: under() }), looksAt(UNSEEN), good, ['collect-garbage']],
]);

describe('what a trial finds the machine to suffer', () => {
  const trialIn = (state: State): Trial => {
    assert.ok(state.doing.phase === 'trial');
    return state.doing;
  };

  it('is noted when it begins', () => {
    const { next } = decide(idle(null), seen(wanting(B), { staged: ready, strain: MEMORY }));
    assert.deepEqual(trialIn(next).strain, MEMORY);
  });

  it('is what it was before the one that it supersedes', () => {
    const observation = seen({
      intent: { intent: 'config', config: C },
      staged: { ...ready, config: C },
      strain: MEMORY,
    });
    const { next } = decide(onTrial(tired, { strain: under('DiskPressure') }), observation);
    assert.equal(trialIn(next).config, C);
    assert.deepEqual(trialIn(next).strain, under('DiskPressure'));
  });

  const before = { run: 'run-1', bootId: 'boot-1' };
  for (const [when, change, parts] of [
    ['while it waits to be installed', INSTALLING, differ],
    ['while it waits for the restart', RESTARTING, {}],
    ['while it waits for a reboot', REBOOTING, {}],
  ] as const) {
    it(`is added to ${when}: the kubelet has not heard of it yet`, () => {
      const trial = trialIn(onTrial(change, { before, strain: under('DiskPressure') }));
      const now = { ...killed(4), pressures: ['MemoryPressure'] };
      const { strain } = withStrainSoFar(trial, looksAt(now, parts));
      assert.deepEqual(strain, { ...now, pressures: ['DiskPressure', 'MemoryPressure'] });
    });
  }

  it('counts the pods of the run that is to end, as last seen', () => {
    const trial = trialIn(onTrial(INSTALLING, { before, strain: counting({ 'refused OutOfcpu': 1 }) }));
    const { strain } = withStrainSoFar(trial, looksAt(counting({ 'refused OutOfcpu': 2 })));
    assert.deepEqual(strain, counting({ 'refused OutOfcpu': 2 }));
    assert.equal(withStrainSoFar(trial, looksAt(counting(null))), trial);
    const uncounted = trialIn(onTrial(INSTALLING, { before, strain: counting(null) }));
    assert.equal(withStrainSoFar(uncounted, looksAt(counting(null))), uncounted);
    const older = trialIn(onTrial(INSTALLING, { before, strain: under() }));
    assert.deepEqual(withStrainSoFar(older, looksAt(counting(null))).strain, counting(null));
  });

  const reasons =
    'OutOfcpu OutOfmemory OutOfephemeral-storage OutOfpods Evicted TopologyAffinityError SysctlForbidden ' +
    'PodLevelResourcesNotSupported PodFeatureUnsupported';
  for (const reason of reasons.split(' ')) {
    it(`is the config’s where pods are refused for ${reason}`, () => {
      const said = harmSince(counting({ [`refused ${reason}`]: 1 }), counting({ [`refused ${reason}`]: 2 }));
      assert.deepEqual(said, [`the kubelet refused 2 pods since its start (${reason}), and 1 in the run before`]);
    });
  }

  it('is written down with the next state', () => {
    const state = onTrial(INSTALLING, { before, strain: under() });
    const { next } = decide(state, looksAt(MEMORY, differ));
    assert.deepEqual(trialIn(next).strain, MEMORY);
  });

  it('is added to by no run that has the config, by no other boot, and by none that nobody knows', () => {
    const begun = under();
    for (const [trial, parts] of [
      [onTrial(judging(), { before, strain: begun }), {}],
      [onTrial(RESTARTING, { before, strain: begun }), run('run-2')],
      [onTrial(INSTALLING, { before, strain: begun }), run(null)],
      [onTrial(INSTALLING, { before, strain: begun }), { bootId: 'boot-2' }],
      [onTrial(INSTALLING, { before: null, strain: begun }), {}],
    ] as const)
      assert.equal(withStrainSoFar(trialIn(trial), looksAt(MEMORY, parts)).strain, begun);
  });

  it('is not forgotten by a look at which it cannot be seen', () => {
    const trial = trialIn(onTrial(INSTALLING, { before, strain: killed(2) }));
    assert.equal(withStrainSoFar(trial, looksAt(UNSEEN)), trial);
  });

  it('is not asked for where the kubelet is down: that is said first', () => {
    const { next } = decide(
      onTrial(judging({ healthy: false, unhealthyMs: 200_000 }), { strain: under() }),
      looksAt(MEMORY, DOWN),
    );
    assert.equal(next.error?.reason, 'NotHealthy');
  });

  it('is told in words', () => {
    const { next } = decide(
      onTrial(tired, { strain: killed(1) }),
      looksAt({ ...killed(3), pressures: ['MemoryPressure', 'PIDPressure'] }),
    );
    assert.deepEqual(harmSince(counting({}), counting({ 'evicted nodefs.available': 1 })), [
      'the kubelet evicted a pod since its start (nodefs.available), and 0 in the run before',
    ]);
    const said =
      'it did harm: its Node is under MemoryPressure, and was not before; its Node is under PIDPressure, and was not before; ' +
      'its pods were out of memory 2 times at the limit of kubepods.slice. The node goes back to general-aaaaaaaaaa';
    assert.equal(next.error?.message, `general-bbbbbbbbbb failed its trial: ${said}`);
    assert.equal(next.rejected.at(-1)?.reason, 'NodeHarmed');
  });
});

describe('laws of harm', () => {
  it('nothing that was so before is harm, and nothing unseen is', () => {
    fc.assert(
      fc.property(strains, strains, (before, now) => {
        assert.deepEqual(harmSince(before, before), []);
        assert.deepEqual(harmSince(undefined, now), []);
        assert.deepEqual(harmSince({ ...before, pressures: null, outOfMemory: null, pods: null }, now), []);
        assert.deepEqual(harmSince(before, { ...now, pressures: null, outOfMemory: null, pods: null }), []);
      }),
    );
  });

  it('a config is never promoted by a look that sees it do harm', () => {
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        if (state.doing.phase !== 'trial' || state.doing.change.step !== 'judge') return;
        if (harmSince(state.doing.strain, observation.strain).length === 0) return;
        // An agent that died while it wrote the promotion down left it behind: that was decided before.
        if (sameConfig(state.lastKnownGood, state.doing.config)) return;
        assert.ok(!sameConfig(decide(state, observation).next.lastKnownGood, state.doing.config));
      }),
      { numRuns: 2_000 },
    );
  });

  it('what goes on doing harm ends within the patience of a contradiction and one look', () => {
    fc.assert(
      fc.property(strains, strains, fc.integer({ min: 1, max: 5_000 }), (before, now, stepMs) => {
        if (harmSince(before, now).length === 0) return;
        let state: State = onTrial(judging(), { strain: before });
        let spentMs = 0;
        while (state.doing.phase === 'trial' && spentMs <= PACE.contradictedMs + 2 * stepMs) {
          state = decide(state, looksAt(now, { elapsedMs: stepMs, bootId: 'boot-1' })).next;
          spentMs += stepMs;
        }
        assert.equal(state.error?.reason, 'NodeHarmed');
      }),
    );
  });

  it('where there is none, decisions are the same as if nobody had asked', () => {
    const without = (state: State): State => {
      if (state.doing.phase !== 'trial') return state;
      const { strain: _, ...doing } = state.doing;
      return { ...state, doing };
    };
    fc.assert(
      fc.property(arbitraryState, arbitraryObservation, (state, observation) => {
        const strain = state.doing.phase === 'trial' ? state.doing.strain : undefined;
        if (harmSince(strain, observation.strain).length > 0) return;
        const asked = decide(state, observation);
        const unasked = decide(without(state), observation);
        if (asked.next.doing.phase === 'trial' && state.doing.phase === 'trial')
          assert.deepEqual(without(asked.next), without(unasked.next));
        assert.deepEqual(
          asked.actions.map((action) => action.do),
          unasked.actions.map((action) => action.do),
        );
      }),
    );
  });
});
