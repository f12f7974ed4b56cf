import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  memoryAfterLook,
  type ProcessMemory,
  EMPTY_MEMORY,
  observationFromMemory,
  stagedFromMemory,
  type TriedConfig,
} from '#agent/decide/process-memory.ts';
import type { Intent, Observation } from '#agent/decide/observation.ts';
import type { Config, State } from '#agent/decide/state.ts';
import { contradicts, differ } from '../../support/agent/decision-table.ts';
import { A, B, idle, judging, onTrial, seen, TERMS, wanting } from '../../support/agent/states.ts';

const NOW = 100_000;
const FAILURE = { reason: 'DownloadFailed', message: 'no answer' } as const;
const tried = (config: Config, outcome: TriedConfig['result']['outcome'] = 'unavailable'): TriedConfig => ({
  config,
  result: outcome === 'ready' ? { outcome, warnings: ['hm'] } : { outcome, failure: FAILURE },
  retryAt: NOW + 3_000,
  faults: 4,
});
const want = (config: Config | null): Intent => wanting(config).intent;
const UNKNOWN: Intent = { intent: 'unknown' };
const UNREADABLE: Intent = { intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no uid' } };
/** The same bytes at another place. */
const moved = (part: keyof Config['source']): Config => ({ ...B, source: { ...B.source, [part]: 'another' } });

describe('what was staged', () => {
  it('is in the look at the assignment that it was staged for', () => {
    const found = { config: B, outcome: 'unavailable', failure: FAILURE, retryInMs: 3_000 };
    assert.deepEqual(stagedFromMemory(tried(B), want(B), NOW), found);
    assert.deepEqual(stagedFromMemory(tried(B), want(B), NOW + 3_000), { ...found, retryInMs: 0 });
    assert.deepEqual(stagedFromMemory(tried(B, 'refused'), want(B), NOW), {
      config: B,
      outcome: 'refused',
      failure: FAILURE,
    });
    assert.deepEqual(stagedFromMemory(tried(B, 'ready'), want(B), NOW), {
      config: B,
      outcome: 'ready',
      warnings: ['hm'],
    });
    assert.equal(stagedFromMemory(null, want(B), NOW), null);
  });

  /** The intent of a look; whether what was staged for B is in it, and whether it is remembered after it. */
  const rows: readonly (readonly [when: string, intent: Intent, isSeen: boolean, isKept: boolean])[] = [
    ['B is wanted', want(B), true, true],
    ['B is wanted on other terms', want({ ...B, trial: { ...TERMS, maxRestarts: 9 }, commit: 'beef' }), true, true],
    ['the API server says nothing', UNKNOWN, false, true],
    ['the assignment cannot be read', UNREADABLE, false, false],
    ['nothing is assigned', want(null), false, false],
    ['another config is wanted', want(A), false, false],
    ['B is to be applied in another way', want({ ...B, apply: 'replace' }), false, false],
    ['the ConfigMap of B was made again', want(moved('uid')), false, false],
    ['the ConfigMap of B was edited', want(moved('resourceVersion')), false, false],
    ['the payload of B is under another key', want(moved('key')), false, false],
  ];
  for (const [when, intent, isSeen, isKept] of rows) {
    it(`is ${isSeen ? '' : 'not '}seen, and ${isKept ? 'kept' : 'forgotten'}, when ${when}`, () => {
      const staged = tried(B);
      assert.equal(stagedFromMemory(staged, intent, NOW) !== null, isSeen);
      assert.equal(
        memoryAfterLook({ ...EMPTY_MEMORY, staged }, idle(A), seen({ intent })).staged,
        isKept ? staged : null,
      );
    });
  }
});

describe('the check of what drifted', () => {
  const rechecked = (
    outcome: TriedConfig['result']['outcome'],
    isNew = true,
  ): NonNullable<ProcessMemory['rechecked']> => ({
    ...tried(A, outcome),
    remedy: 'put-back',
    isNew,
  });
  const keptAfter = (
    was: ProcessMemory['rechecked'],
    state: State,
    ...parts: readonly Partial<Observation>[]
  ): unknown => {
    const memory: ProcessMemory = { ...EMPTY_MEMORY, rechecked: was };
    const look = seen(wanting(A), observationFromMemory(memory, want(A), false, NOW), ...parts);
    return memoryAfterLook(memory, state, look).rechecked;
  };

  it('is in the next look, with the time until it may be made again', () => {
    const { rechecked: found } = observationFromMemory(
      { ...EMPTY_MEMORY, rechecked: rechecked('unavailable') },
      UNKNOWN,
      false,
      NOW,
    );
    const result = { outcome: 'unavailable', failure: FAILURE };
    assert.deepEqual(found, { config: A, remedy: 'put-back', result, isNew: true, retryInMs: 3_000 });
  });

  it('that was passed is forgotten by the look that saw it, whatever came of it', () => {
    assert.equal(keptAfter(rechecked('ready'), idle(A), differ), null);
    assert.equal(keptAfter(rechecked('ready'), onTrial(judging()), differ), null);
  });

  it('that was passed for one remedy is forgotten as well where another is needed by now', () => {
    assert.equal(keptAfter({ ...rechecked('ready'), remedy: 'none' }, idle(A), differ), null);
  });

  it('that was not passed, or could not be made, is kept as one that was seen, while the drift lasts', () => {
    for (const outcome of ['refused', 'unavailable'] as const) {
      assert.deepEqual(keptAfter(rechecked(outcome), idle(A), differ), rechecked(outcome, false));
      assert.deepEqual(keptAfter(rechecked(outcome, false), idle(A), contradicts), rechecked(outcome, false));
    }
  });

  it('is forgotten with the drift, or when that is only to be reported, or was put back too often', () => {
    const report: State = idle({ ...A, drift: 'report' });
    for (const outcome of ['refused', 'unavailable'] as const) {
      assert.equal(keptAfter(rechecked(outcome), idle(A)), null);
      assert.equal(keptAfter(rechecked(outcome), onTrial(judging()), differ), null);
      assert.equal(keptAfter(rechecked(outcome), report, differ), null);
      assert.equal(keptAfter(rechecked(outcome), idle(A), differ, { repairAges: [4, 3, 2, 1] }), null);
    }
  });
});

describe('what could not be carried out', () => {
  const fault = { reason: 'CannotInstall', message: 'no room', isFull: true } as const;
  const keptAfter = (state: State, ...parts: readonly Partial<Observation>[]): ProcessMemory['fault'] =>
    memoryAfterLook({ ...EMPTY_MEMORY, fault }, state, seen(wanting(A), ...parts)).fault;

  it('is forgotten on a node at rest that is as it was left', () => {
    assert.equal(keptAfter(idle(A)), null);
  });

  it('is remembered while there is still something to do', () => {
    assert.equal(keptAfter(onTrial(judging())), fault);
    assert.equal(keptAfter(idle(A), differ), fault);
    assert.equal(keptAfter(onTrial(judging()), differ), fault);
  });

  it('is in the next look', () => {
    assert.equal(observationFromMemory({ ...EMPTY_MEMORY, fault }, UNKNOWN, false, NOW).fault, fault);
  });
});

describe('the memory of a process', () => {
  it('holds nothing at its start', () => {
    assert.deepEqual(observationFromMemory(EMPTY_MEMORY, UNKNOWN, false, NOW), {
      staged: null,
      rechecked: null,
      repairAges: [],
      guardFault: null,
      leaving: 'no',
      restart: 'none',
      fault: null,
      startAgeMs: null,
    });
  });

  it('tells how long ago a kubelet that was down was started, also where that was when the clock began', () => {
    const ageOf = (startedAt: number): unknown =>
      observationFromMemory({ ...EMPTY_MEMORY, startedAt }, UNKNOWN, false, NOW).startAgeMs;
    assert.deepEqual([ageOf(NOW - 7_000), ageOf(0)], [7_000, NOW]);
  });

  it('tells the ages of what was done, and whether it has left the node that it is to give up', () => {
    const guardFault = { trial: 't', message: 'no room', tries: 2, isFull: true, retryAt: NOW - 1 };
    const memory: ProcessMemory = { ...EMPTY_MEMORY, repairs: [NOW - 7_000, NOW], guardFault, restart: 'failed' };
    const look = observationFromMemory(memory, UNKNOWN, true, NOW);
    assert.deepEqual(look.repairAges, [7_000, 0]);
    assert.deepEqual(look.guardFault, { trial: 't', message: 'no room', tries: 2, isFull: true, retryInMs: -1 });
    assert.deepEqual([look.leaving, look.restart], ['asked', 'failed']);
    assert.equal(observationFromMemory({ ...memory, left: true }, UNKNOWN, true, NOW).leaving, 'done');
    assert.equal(observationFromMemory({ ...memory, left: true }, UNKNOWN, false, NOW).leaving, 'no');
  });
});
