import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { FallingBack } from '#agent/decide/state.ts';
import { DEFAULT_TERMS } from '#agent/decide/assignment/terms.ts';
import { differ, lost, blocked, run, unreadNode, table } from '../../support/agent/decision-table.ts';
import {
  A,
  B,
  C,
  DOWN,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
  seen,
  TERMS,
  wanting,
} from '../../support/agent/states.ts';

table('the way back', {
  'installs until the files are in place': [
    fallingBack(A, INSTALLING),
    seen(wanting(B), differ),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'orders the restart once they are': [
    fallingBack(A, INSTALLING),
    seen(wanting(B)),
    'falling-back (restart): B, active A, CrashLoop → restart',
  ],
  'needs no API server': [
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(unreadNode),
    'idle: B, active A, CrashLoop → collect-garbage',
  ],
  'is not over before the kubelet has been healthy for 10 seconds': [
    fallingBack(A, judging({ healthyMs: 4_999 })),
    seen(wanting(B)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'ends when the kubelet is steadily healthy': [
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(wanting(B)),
    'idle: B, active A, CrashLoop → collect-garbage',
  ],
  'is not over at the first healthy look': [
    fallingBack(A, judging({ healthyMs: 0, healthy: false })),
    seen(wanting(B)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'is not over for a kubelet that was healthy between two crashes': [
    fallingBack(A, judging({ healthyMs: 9_000 })),
    seen(wanting(B), run('run-2', 1)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'gives the last known good config its time to start': [
    fallingBack(A, judging({ healthy: false, unhealthyMs: 114_999 })),
    seen(wanting(B), DOWN),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'goes on to local when the last known good config is not healthy either': [
    fallingBack(A, judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'falling-back (install): B, active local, FallbackFailed → install local',
  ],
  'goes on to local when the checkpoint of the last known good config is lost': [
    fallingBack(A, INSTALLING),
    seen(wanting(B), lost),
    'falling-back (install): B, active local, FallbackFailed → install local',
  ],
  'forgives the last known good config as many crashes as its trial did': [
    fallingBack(A, judging()),
    seen(run('run-2', 2)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'goes on to local when the last known good config crash-loops': [
    fallingBack(A, judging()),
    seen(run('run-2', 3)),
    'falling-back (install): B, active local, FallbackFailed → install local',
  ],
  'ends broken when local is not healthy either': [
    fallingBack(null, judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'broken: B, active local, KubeletBroken',
  ],
  'ends broken when local cannot be installed': [
    fallingBack(null, INSTALLING),
    seen(wanting(B), blocked(true)),
    'broken: B, active local, KubeletBroken',
  ],
  'ends on local': [
    fallingBack(null, judging({ healthyMs: 5_000 })),
    seen(wanting(B)),
    'idle: B, active local, CrashLoop → collect-garbage',
  ],
  'ends on what is assigned again, whatever the record of the assignment says': [
    fallingBack(A, judging({ healthyMs: 5_000 }), { because: 'superseded' }),
    seen(),
    'idle: A, CrashLoop → collect-garbage',
  ],
  'comes before the next assignment': [
    fallingBack(A, judging({ healthyMs: 0 })),
    seen(wanting(C)),
    'falling-back (judge): B, active A, CrashLoop',
  ],
  'turns to local when the node is unassigned': [
    fallingBack(A, judging()),
    seen(wanting(null)),
    'falling-back (install): local → install local',
  ],
  'to local stays on its way when the node is unassigned': [
    fallingBack(null, RESTARTING),
    seen(wanting(null)),
    'falling-back (restart): local, CrashLoop',
  ],
  'takes an assignment of where it goes anyway': [
    fallingBack(A, judging()),
    seen(wanting(A)),
    'falling-back (judge): A, CrashLoop',
  ],
});

table('unassigning', {
  'gives the node its own config back': [idle(A), seen(wanting(null)), 'falling-back (install): local → install local'],
  'restarts it once': [
    fallingBack(null, INSTALLING, { because: 'unassigned' }),
    seen(wanting(null)),
    'falling-back (restart): local, CrashLoop → restart',
  ],
  'leaves nothing behind': [
    { ...fallingBack(null, judging({ healthyMs: 5_000 }), { because: 'unassigned' }), assigned: A },
    seen(),
    'idle: local → collect-garbage',
  ],
  'restarts nothing where local runs already': [rejecting(null), seen(wanting(null)), 'idle: local'],
});

describe('what is remembered of the way back', () => {
  const wayOf = (...args: Parameters<typeof decide>): FallingBack => decide(...args).next.doing as FallingBack;
  const short = { ...TERMS, startTimeoutMs: 7_000 };

  it('is that the node is to be unassigned, also where it was on its way to local for another reason', () => {
    assert.equal(wayOf(fallingBack(null, RESTARTING), seen(wanting(null))).because, 'unassigned');
  });

  it('is why it was begun, for its end depends on that', () => {
    assert.equal(wayOf(idle(A), seen(wanting(null))).because, 'unassigned');
    assert.equal(wayOf(onTrial(judging()), seen(wanting(A))).because, 'superseded');
    assert.equal(wayOf(onTrial(judging({ unhealthyMs: 600_000 })), seen(wanting(B), DOWN)).because, 'failed');
    assert.equal(wayOf(idle(null), seen({ leaving: 'asked' }, differ)).because, 'unassigned');
  });

  it('are the terms of the config that is left, and the usual ones where none is', () => {
    const onShortTerms = { ...A, trial: short };
    assert.deepEqual(wayOf(idle(onShortTerms), seen(wanting(null))).terms, short);
    assert.deepEqual(wayOf(onTrial(judging(), { config: { ...B, trial: short } }), seen(wanting(null))).terms, short);
    const way = { ...fallingBack(A, RESTARTING, { terms: short }), lastKnownGood: null };
    assert.deepEqual(wayOf(way, seen(wanting(null))).terms, DEFAULT_TERMS);
  });

  it('is nothing of a run where none is known to have what the node goes back to', () => {
    assert.deepEqual(wayOf(idle(A), seen(wanting(null))).change, INSTALLING);
  });

  it('is the run from before a trial over local, which has local: not the one from before a trial over another config', () => {
    const before = { run: 'run-1', bootId: 'boot-1' };
    const leaving = (over: typeof A | null): FallingBack['change'] =>
      wayOf(onTrial(INSTALLING, { before }, over), seen(wanting(null))).change;
    assert.deepEqual(leaving(null), { step: 'install', running: before });
    assert.deepEqual(leaving(A), INSTALLING);
  });

  it('is which config was wanted when nothing good was left', () => {
    const { next } = decide(fallingBack(A, INSTALLING), seen(wanting(B), lost));
    assert.equal(next.error?.config, B.source.name);
  });
});
