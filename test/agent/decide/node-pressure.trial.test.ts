import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { pressureSince, withPressureSoFar } from '#agent/decide/node-pressure.ts';
import type { Change, State, Trial } from '#agent/decide/state.ts';
import { differ, ready, run } from '../../support/agent/decision-table.ts';
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
import { counting, killed, looksAt, MEMORY, tired, under, UNSEEN } from './support/node-pressure.ts';

const REBOOTING: Change = { step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 };

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
      const { strain } = withPressureSoFar(trial, looksAt(now, parts));
      assert.deepEqual(strain, { ...now, pressures: ['DiskPressure', 'MemoryPressure'] });
    });
  }

  it('counts the pods of the run that is to end, as last seen', () => {
    const trial = trialIn(onTrial(INSTALLING, { before, strain: counting({ 'refused OutOfcpu': 1 }) }));
    const { strain } = withPressureSoFar(trial, looksAt(counting({ 'refused OutOfcpu': 2 })));
    assert.deepEqual(strain, counting({ 'refused OutOfcpu': 2 }));
    assert.equal(withPressureSoFar(trial, looksAt(counting(null))), trial);
    const uncounted = trialIn(onTrial(INSTALLING, { before, strain: counting(null) }));
    assert.equal(withPressureSoFar(uncounted, looksAt(counting(null))), uncounted);
    const older = trialIn(onTrial(INSTALLING, { before, strain: under() }));
    assert.deepEqual(withPressureSoFar(older, looksAt(counting(null))).strain, counting(null));
  });

  const reasons =
    'OutOfcpu OutOfmemory OutOfephemeral-storage OutOfpods Evicted TopologyAffinityError SysctlForbidden ' +
    'PodLevelResourcesNotSupported PodFeatureUnsupported';
  for (const reason of reasons.split(' ')) {
    it(`is the config’s where pods are refused for ${reason}`, () => {
      const said = pressureSince(counting({ [`refused ${reason}`]: 1 }), counting({ [`refused ${reason}`]: 2 }));
      assert.deepEqual(said, [`the kubelet refused 2 pods since its start (${reason}), and 1 in the run before`]);
    });
  }

  it('is what was first seen of it, where nothing could be seen before', () => {
    const trial = trialIn(onTrial(INSTALLING, { before, strain: UNSEEN }));
    assert.deepEqual(withPressureSoFar(trial, looksAt(MEMORY)).strain, MEMORY);
  });

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
      assert.equal(withPressureSoFar(trialIn(trial), looksAt(MEMORY, parts)).strain, begun);
  });

  it('is not forgotten by a look at which it cannot be seen', () => {
    const trial = trialIn(onTrial(INSTALLING, { before, strain: killed(2) }));
    assert.equal(withPressureSoFar(trial, looksAt(UNSEEN)), trial);
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
    assert.deepEqual(pressureSince(counting({}), counting({ 'evicted nodefs.available': 1 })), [
      'the kubelet evicted a pod since its start (nodefs.available), and 0 in the run before',
    ]);
    const said =
      'it did harm: its Node is under MemoryPressure, and was not before; its Node is under PIDPressure, and was not before; ' +
      'its pods were out of memory 2 times at the limit of kubepods.slice. The node goes back to general-aaaaaaaaaa';
    assert.equal(next.error?.message, `general-bbbbbbbbbb failed its trial: ${said}`);
    assert.equal(next.rejected.at(-1)?.reason, 'NodeHarmed');
  });
});
