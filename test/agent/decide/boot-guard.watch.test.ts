import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fallBackAfterAbsence, bootLimitsOf, provenByBoot } from '#agent/decide/boot-guard.ts';
import { decide } from '#agent/decide/decide.ts';
import type { Decision } from '#agent/decide/decision.ts';
import type { GuardFault } from '#agent/ports/guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State, Unproven } from '#agent/decide/state.ts';
import { afterFailedSave } from '#agent/decide/save-failed.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { A, B, C, fallingBack, idle, INSTALLING, onTrial, seen, wanting } from '../../support/agent/states.ts';
import { nextBoot, promoted, tookBack, unwatched, WATCH_OF_B, watching } from './support/boots.ts';

describe('the watch over a boot', () => {
  const refusing = (parts: Partial<GuardFault>): Partial<Observation> => ({
    guardFault: { trial: WATCH_OF_B, message: 'no', tries: 1, isFull: false, retryInMs: 0, ...parts },
  });
  const isArmed = (...parts: readonly Partial<Observation>[]): boolean =>
    decide(promoted(), seen(wanting(B), unwatched, ...parts)).actions.some((action) => action.do === 'arm-guard');

  it('is asked for with the boot in which nothing is to be done, and leads to what an agent came up under', () => {
    const { actions } = decide(promoted(), seen(wanting(B), unwatched));
    assert.deepEqual(actions, [{ do: 'arm-guard', trial: { config: B, since: 'boots' }, to: A, watch: 'boot-1' }]);
  });

  it('is tried a dozen times, with pauses, and as long as the disk is full', () => {
    assert.equal(isArmed(refusing({ tries: 11 })), true);
    assert.equal(isArmed(refusing({ retryInMs: 1 })), false);
    assert.equal(isArmed(refusing({ tries: 12 })), false);
    assert.equal(isArmed(refusing({ tries: 12, isFull: true })), true);
    assert.equal(isArmed(refusing({ tries: 12, trial: 'other' })), true);
  });

  it('waits as long as a trial, and a quarter of an hour at least', () => {
    assert.equal(bootLimitsOf({ durationMs: 1_000, startTimeoutMs: 1_000, maxRestarts: 0 }).silenceSeconds, 900);
    assert.equal(bootLimitsOf({ durationMs: 900_000, startTimeoutMs: 1_000, maxRestarts: 0 }).silenceSeconds, 901);
  });

  it('goes on where nobody knows which boot this is', () => {
    const state = promoted();
    assert.equal(provenByBoot(state, seen(watching(), { bootId: '' })), state);
    assert.equal(provenByBoot(state, seen(watching())), state);
    assert.equal('unproved' in provenByBoot(state, seen(watching(), nextBoot)), false);
    const waits = promoted({ absences: 1, bootId: 'boot-2' }, A);
    assert.equal(
      provenByBoot(waits, seen(unwatched, { bootId: 'boot-3' })),
      waits,
      'a config that waits was not booted with',
    );
  });

  it('hears of an agent that cannot write down that it is there', () => {
    const [before, decision] = [promoted(), decide(promoted(), seen(wanting(B), watching(), nextBoot))];
    const { next, actions } = afterFailedSave(before, decision, DEFAULT_TIMING);
    assert.equal(next, before);
    assert.deepEqual(actions, [{ do: 'reassure-guard' }]);
    const superseding: Decision = {
      next: onTrial(INSTALLING, { config: C }),
      actions: [{ do: 'reassure-guard' }],
      recheckAfterMs: 0,
    };
    assert.deepEqual(
      afterFailedSave(onTrial(INSTALLING), superseding, DEFAULT_TIMING).actions,
      [],
      'that of a trial is left to the guard',
    );
  });

  it('ends where the node is in the middle of something, and where everything of ours goes', () => {
    const middle: State = {
      ...fallingBack(B, INSTALLING),
      lastKnownGood: B,
      unproved: promoted().unproved as Unproven,
    };
    assert.equal(fallBackAfterAbsence(middle, seen(tookBack())), undefined);
    const { actions } = decide(middle, seen(watching()));
    assert.deepEqual(
      actions.slice(0, 2).map((action) => action.do),
      ['reassure-guard', 'disarm-guard'],
    );
    const leaving = decide({ ...idle(null), assigned: null }, seen(wanting(null), { leaving: 'asked' }, watching()));
    assert.deepEqual(leaving.actions, [{ do: 'leave' }]);
  });

  it('is remembered on the way back, which is that of a config that failed', () => {
    const { next } = decide(promoted(), seen(wanting(B), tookBack()));
    assert.deepEqual(next.unproved, { sha256: B.source.sha256, to: A, bootId: 'boot-2', absences: 1 });
    assert.equal(next.doing.phase === 'falling-back' && next.doing.because, 'failed');
  });

  it('says what the guard saw where it is to blame', () => {
    const after = (absences: number, ...parts: Parameters<typeof tookBack>) =>
      fallBackAfterAbsence(promoted({ absences }), seen(wanting(B), tookBack(...parts)))?.next.error?.message;
    const blamed = (...parts: Parameters<typeof tookBack>) => after(1, ...parts);
    const name = `no agent came up under ${B.source.name}`;
    const back = `The node goes back to ${A.source.name}`;
    assert.equal(blamed(), `${name} after 2 boots, although the kubelet ran other pods. ${back}`);
    assert.equal(blamed({ watch: 'boot-1' }), blamed(), 'it was promoted in another boot');
    assert.equal(
      blamed({ watch: 'boot-2' }),
      `${name} again after a start of the kubelet, which ended its pod. ${back}`,
    );
    assert.equal(
      after(2, { cause: 'boots', starts: 2 }),
      `${name} again in 2 boots in a row, each of which ended soon. ${back}`,
    );
  });

  it('is told by the run that the guard started', () => {
    const running = (parts: Parameters<typeof tookBack>[0]) => {
      const { doing } = fallBackAfterAbsence(promoted(), seen(tookBack(parts)))?.next ?? idle(A);
      return doing.phase === 'falling-back' && doing.change.step === 'install' ? doing.change.running : 'another step';
    };
    assert.deepEqual(running({}), { run: 'run-1', bootId: 'boot-2' });
    assert.equal(running({ restarted: false }), undefined);
    assert.equal(running({ to: 'local' }), undefined);
    assert.equal(fallBackAfterAbsence(fallingBack(A, INSTALLING), seen(tookBack())), undefined);
  });
});
