import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide.ts';
import type { Action, Decision } from '#agent/decision.ts';
import type { Observation, Staged } from '#agent/observation.ts';
import { activeOf, nameOf, type State } from '#agent/state.ts';
import {
  A,
  AT,
  B,
  broken,
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
  wanting,
} from '../support/agent/states.ts';

const letters = new Map([A, B, C].map((each, index) => [each.source.name, 'ABC'[index] ?? '']));
const letterOf = (name: string): string => letters.get(name) ?? name;

/** `stage B`, `install local`, `restart`, `collect-garbage`. */
function short(action: Action): string {
  switch (action.do) {
    case 'stage':
      return `stage ${letterOf(nameOf(action.config))}`;
    case 'install':
      return `install ${letterOf(nameOf(action.target))}`;
    case 'restart-kubelet':
      return 'restart';
    case 'collect-garbage':
      return action.do;
  }
}

/** `idle: assigned B, active A, good A, error CrashLoop`. */
function stand({ next }: Decision): string {
  const { doing, assigned, lastKnownGood, error } = next;
  const step = 'change' in doing ? ` (${doing.change.step})` : '';
  const names = [assigned, activeOf(next), lastKnownGood].map((target) => letterOf(nameOf(target)));
  return `${doing.phase}${step}: assigned ${names[0]}, active ${names[1]}, good ${names[2]}, ${error?.reason ?? 'no error'}`;
}

const ready: Staged = { config: B, outcome: 'ready' };
const refused: Staged = {
  config: B,
  outcome: 'refused',
  failure: { reason: 'ConfigInvalid', message: 'no such field' },
};
const unavailable = (retryInMs: number): Staged => ({
  config: B,
  outcome: 'unavailable',
  failure: { reason: 'DownloadFailed', message: 'no answer' },
  retryInMs,
});
const failedDownload = { reason: 'DownloadFailed', message: 'no answer', at: AT, config: B.source.name };
const differ: Partial<Observation> = { files: { files: 'differ' } };
const lost: Partial<Observation> = { files: { files: 'lost', message: 'gone' } };
const blocked = (forGood: boolean): Partial<Observation> => ({
  files: { files: 'blocked', message: 'no way', forGood },
});
const run = (id: string | null, automaticRestarts: number | null = 0): Partial<Observation> => ({
  service: { state: id === null ? 'starting' : 'running', run: id, automaticRestarts },
});
const failedService: Partial<Observation> = { service: { state: 'failed', run: null, automaticRestarts: 3 } };
const unseenService: Partial<Observation> = { service: { state: 'unknown', run: null, automaticRestarts: null } };
const contradicts: Partial<Observation> = {
  running: { running: 'contradicts', differences: ['maxPods=110 instead of 250'] },
};
const notReady: Partial<Observation> = { nodeReady: 'no' };
const unreadNode: Partial<Observation> = { nodeReady: 'unknown' };
const rebooted: Partial<Observation> = { bootId: 'boot-2', ...run('run-1') };

type Row = readonly [when: string, state: State, observation: Observation, stand: string, actions: readonly string[]];

function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [when, state, observation, expected, actions] of rows) {
      it(when, () => {
        const decision = decide(state, observation);
        assert.equal(stand(decision), expected);
        assert.deepEqual(decision.actions.map(short), actions);
      });
    }
  });
}

table('nothing is touched', [
  ['while the API server was not heard yet', idle(A), seen(), 'idle: assigned A, active A, good A, no error', []],
  [
    'while the API server is away from a node that took a config back',
    rejecting(A),
    seen(),
    'idle: assigned B, active A, good A, CrashLoop',
    [],
  ],
  ['when what is wanted runs already', idle(A), seen(wanting(A)), 'idle: assigned A, active A, good A, no error', []],
  [
    'when the same payload comes from another commit and a ConfigMap made anew',
    idle(A),
    seen(
      wanting({ ...A, commit: 'beef', source: { ...A.source, uid: 'other', resourceVersion: '99', name: 'gpu-x' } }),
    ),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  [
    'when a node that was never assigned anything still is not',
    idle(null),
    seen(wanting(null)),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
  [
    'when the kubelet is down with a config that once proved itself',
    idle(A),
    seen(wanting(A), DOWN, failedService),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  ['when the files drifted', idle(A), seen(wanting(A), differ), 'idle: assigned A, active A, good A, no error', []],
  [
    'when the assignment cannot be read',
    idle(A),
    seen({ intent: { intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no uid' } } }),
    'idle: assigned A, active A, good A, InvalidAssignment',
    [],
  ],
  [
    'when a rejected config is still assigned',
    rejecting(A),
    seen(wanting(B)),
    'idle: assigned B, active A, good A, CrashLoop',
    [],
  ],
  [
    'at the first look but for what earlier runs left behind',
    idle(A),
    seen(wanting(A), { first: true }),
    'idle: assigned A, active A, good A, no error',
    ['collect-garbage'],
  ],
]);

table('staging', [
  [
    'a new assignment is fetched before anything else',
    idle(A),
    seen(wanting(B)),
    'idle: assigned A, active A, good A, no error',
    ['stage B'],
  ],
  [
    'the same payload applied in another way is another config',
    idle(A),
    seen(wanting({ ...A, apply: 'replace' })),
    'idle: assigned A, active A, good A, no error',
    ['stage A'],
  ],
  [
    'what is ready goes on trial',
    idle(A),
    seen(wanting(B), { staged: ready }),
    'trial (install): assigned B, active B, good A, no error',
    ['install B'],
  ],
  [
    'what is refused leaves the kubelet alone',
    idle(A),
    seen(wanting(B), { staged: refused }),
    'idle: assigned B, active A, good A, ConfigInvalid',
    [],
  ],
  [
    'what cannot be had is waited for',
    idle(A),
    seen(wanting(B), { staged: unavailable(2000) }),
    'idle: assigned A, active A, good A, DownloadFailed',
    [],
  ],
  [
    'and is tried again when its time has come',
    idle(A),
    seen(wanting(B), { staged: unavailable(0) }),
    'idle: assigned A, active A, good A, DownloadFailed',
    ['stage B'],
  ],
  [
    'an error goes when the assignment that it was about does',
    { ...idle(A), error: failedDownload },
    seen(wanting(A)),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  [
    'and when the node is unassigned before it had anything',
    { ...idle(null), error: failedDownload },
    seen(wanting(null)),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
  [
    'a rejected config that is assigned anew after another is tried again',
    { ...rejecting(A), assigned: A, error: null },
    seen(wanting(B)),
    'idle: assigned A, active A, good A, no error',
    ['stage B'],
  ],
  [
    'another than the rejected one is tried',
    rejecting(A),
    seen(wanting(C)),
    'idle: assigned B, active A, good A, CrashLoop',
    ['stage C'],
  ],
  [
    'a revert to what runs clears the error and restarts nothing',
    rejecting(A),
    seen(wanting(A)),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  [
    'the lost checkpoint of a running config is fetched again, and the kubelet left alone',
    idle(A),
    seen(wanting(A), lost),
    'idle: assigned A, active A, good A, no error',
    ['stage A'],
  ],
]);

table('a trial', [
  [
    'installs until the files are in place',
    onTrial(INSTALLING),
    seen(wanting(B), differ),
    'trial (install): assigned B, active B, good A, no error',
    ['install B'],
  ],
  [
    'orders the restart once they are',
    onTrial(INSTALLING),
    seen(wanting(B)),
    'trial (restart): assigned B, active B, good A, no error',
    ['restart'],
  ],
  [
    'waits for what hinders the installation, if that may pass',
    onTrial(INSTALLING),
    seen(wanting(B), blocked(false)),
    'trial (install): assigned B, active B, good A, no error',
    [],
  ],
  [
    'ends where it cannot be installed',
    onTrial(INSTALLING),
    seen(wanting(B), blocked(true)),
    'falling-back (install): assigned B, active A, good A, CannotInstall',
    ['install A'],
  ],
  [
    'ends where its checkpoint is lost',
    onTrial(INSTALLING),
    seen(lost),
    'falling-back (install): assigned B, active A, good A, CheckpointLost',
    ['install A'],
  ],
  [
    'waits for the restart that it ordered',
    onTrial(RESTARTING),
    seen(wanting(B)),
    'trial (restart): assigned B, active B, good A, no error',
    [],
  ],
  [
    'orders it again when nothing came of it',
    onTrial({ ...RESTARTING, waitedMs: 115_000 }),
    seen(wanting(B)),
    'trial (restart): assigned B, active B, good A, no error',
    ['restart'],
  ],
  [
    'orders it again sooner when it could not be carried out',
    onTrial({ ...RESTARTING, waitedMs: 25_000 }),
    seen(wanting(B), { restart: 'failed' }),
    'trial (restart): assigned B, active B, good A, no error',
    ['restart'],
  ],
  [
    'judges the new run',
    onTrial(RESTARTING),
    seen(wanting(B), run('run-2')),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'judges after a reboot, which started the kubelet too',
    onTrial(RESTARTING),
    seen(wanting(B), rebooted),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'judges when the old process is gone and no new one stays',
    onTrial(RESTARTING),
    seen(wanting(B), run(null), DOWN),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'does not take a silent service manager for a restart',
    onTrial(RESTARTING),
    seen(wanting(B), unseenService),
    'trial (restart): assigned B, active B, good A, no error',
    [],
  ],
  [
    'relies on its own order where there are no runs to see',
    onTrial({ ...RESTARTING, runBefore: null }),
    seen(wanting(B), unseenService, { restart: 'done' }),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'goes on without the API server',
    onTrial(judging({ healthyMs: 300_000 })),
    seen(),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'one look before its end',
    onTrial(judging({ healthyMs: 594_999 })),
    seen(wanting(B)),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'ends in promotion after its healthy time',
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B)),
    'idle: assigned B, active B, good B, no error',
    ['collect-garbage'],
  ],
  [
    'is as long as the assignment says now',
    onTrial(judging({ healthyMs: 25_000 })),
    seen(wanting({ ...B, trial: { ...B.trial, durationMs: 30_000 } })),
    'idle: assigned B, active B, good B, no error',
    ['collect-garbage'],
  ],
  [
    'promotes nothing while the kubelet is down',
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(B), DOWN),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'promotes nothing while the Node cannot be seen',
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(B), unreadNode),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'promotes nothing that the node could not fall back to',
    onTrial(judging({ healthyMs: 599_999 })),
    seen(lost),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'one look before the kubelet has been unhealthy for too long',
    onTrial(judging({ healthy: false, unhealthyMs: 114_999 })),
    seen(wanting(B), DOWN),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'fails when the kubelet has been unhealthy for too long',
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'falling-back (install): assigned B, active A, good A, NotHealthy',
    ['install A'],
  ],
  [
    'forgives as many crashes as it is told to',
    onTrial(judging({ automaticRestarts: 0 })),
    seen(wanting(B), run('run-2', 2)),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'fails at one crash more',
    onTrial(judging({ automaticRestarts: 0 })),
    seen(wanting(B), run('run-2', 3)),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['install A'],
  ],
  [
    'counts runs where nobody counts restarts',
    onTrial(judging({ automaticRestarts: null, restarts: 2 })),
    seen(wanting(B), run('run-2', null)),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['install A'],
  ],
  [
    'does not count what a person restarts',
    onTrial(judging({ automaticRestarts: 0, restarts: 2 })),
    seen(wanting(B), run('run-2', 0)),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'does not take a reboot for a crash',
    onTrial(judging({ automaticRestarts: 0, restarts: 2 })),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9', 5) }),
    'trial (judge): assigned B, active B, good A, no error',
    [],
  ],
  [
    'fails soon when the kubelet runs something else',
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), contradicts),
    'falling-back (install): assigned B, active A, good A, ConfigContradicted',
    ['install A'],
  ],
  [
    'fails when somebody else changes the files',
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), differ),
    'falling-back (install): assigned B, active A, good A, FilesChanged',
    ['install A'],
  ],
  [
    'fails when the Node is no longer Ready',
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), notReady),
    'falling-back (install): assigned B, active A, good A, NodeNotReady',
    ['install A'],
  ],
  [
    'does not blame the config for a Node that was not Ready before',
    onTrial(judging({ healthyMs: 595_000 }), { wasReady: false }),
    seen(wanting(B), notReady),
    'idle: assigned B, active B, good B, no error',
    ['collect-garbage'],
  ],
  [
    'falls back to local where nothing was good before',
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 }), {}, null),
    seen(wanting(B), DOWN),
    'falling-back (install): assigned B, active local, good local, NotHealthy',
    ['install local'],
  ],
  [
    'is superseded by a newer config that is ready',
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C), { staged: { config: C, outcome: 'ready' } }),
    'trial (install): assigned C, active C, good A, no error',
    ['install C'],
  ],
  [
    'goes on while a newer config is fetched',
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C)),
    'trial (judge): assigned B, active B, good A, no error',
    ['stage C'],
  ],
  [
    'goes on when a newer config is refused',
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C), { staged: { ...refused, config: C } }),
    'trial (judge): assigned C, active B, good A, ConfigInvalid',
    [],
  ],
  [
    'is called off by an assignment of what was good',
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(A)),
    'falling-back (install): assigned A, active A, good A, no error',
    ['install A'],
  ],
  [
    'is called off when the node is unassigned',
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(null)),
    'falling-back (install): assigned local, active local, good local, no error',
    ['install local'],
  ],
  [
    'of a config that is noted as rejected ends: the agent died between two files',
    { ...onTrial(judging()), rejected: rejecting(A).rejected },
    seen(wanting(B)),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['install A'],
  ],
  [
    'of the last known good config is over: the agent died between two files',
    { ...onTrial(judging()), lastKnownGood: B },
    seen(wanting(B)),
    'idle: assigned B, active B, good B, no error',
    ['collect-garbage'],
  ],
]);

table('the way back', [
  [
    'installs until the files are in place',
    fallingBack(A, INSTALLING),
    seen(wanting(B), differ),
    'falling-back (install): assigned B, active A, good A, CrashLoop',
    ['install A'],
  ],
  [
    'orders the restart once they are',
    fallingBack(A, INSTALLING),
    seen(wanting(B)),
    'falling-back (restart): assigned B, active A, good A, CrashLoop',
    ['restart'],
  ],
  [
    'needs no API server',
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(unreadNode),
    'idle: assigned B, active A, good A, CrashLoop',
    ['collect-garbage'],
  ],
  [
    'ends when the kubelet is steadily healthy',
    fallingBack(A, judging({ healthyMs: 5_000 })),
    seen(wanting(B)),
    'idle: assigned B, active A, good A, CrashLoop',
    ['collect-garbage'],
  ],
  [
    'is not over at the first healthy look',
    fallingBack(A, judging({ healthyMs: 0, healthy: false })),
    seen(wanting(B)),
    'falling-back (judge): assigned B, active A, good A, CrashLoop',
    [],
  ],
  [
    'is not over for a kubelet that was healthy between two crashes',
    fallingBack(A, judging({ healthyMs: 9_000 })),
    seen(wanting(B), run('run-2', 1)),
    'falling-back (judge): assigned B, active A, good A, CrashLoop',
    [],
  ],
  [
    'goes on to local when the last known good config is not healthy either',
    fallingBack(A, judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'falling-back (install): assigned B, active local, good local, FallbackFailed',
    ['install local'],
  ],
  [
    'goes on to local when the checkpoint of the last known good config is lost',
    fallingBack(A, INSTALLING),
    seen(wanting(B), lost),
    'falling-back (install): assigned B, active local, good local, FallbackFailed',
    ['install local'],
  ],
  [
    'goes on to local when the last known good config crash-loops',
    fallingBack(A, judging()),
    seen(run('run-2', 3)),
    'falling-back (install): assigned B, active local, good local, FallbackFailed',
    ['install local'],
  ],
  [
    'ends broken when local is not healthy either',
    fallingBack(null, judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'broken: assigned B, active local, good local, KubeletBroken',
    [],
  ],
  [
    'ends broken when local cannot be installed',
    fallingBack(null, INSTALLING),
    seen(wanting(B), blocked(true)),
    'broken: assigned B, active local, good local, KubeletBroken',
    [],
  ],
  [
    'ends on local',
    fallingBack(null, judging({ healthyMs: 5_000 })),
    seen(wanting(B)),
    'idle: assigned B, active local, good local, CrashLoop',
    ['collect-garbage'],
  ],
  [
    'comes before the next assignment',
    fallingBack(A, judging({ healthyMs: 0 })),
    seen(wanting(C)),
    'falling-back (judge): assigned B, active A, good A, CrashLoop',
    [],
  ],
  [
    'turns to local when the node is unassigned',
    fallingBack(A, judging()),
    seen(wanting(null)),
    'falling-back (install): assigned local, active local, good local, no error',
    ['install local'],
  ],
  [
    'to local stays on its way when the node is unassigned',
    fallingBack(null, RESTARTING),
    seen(wanting(null)),
    'falling-back (restart): assigned local, active local, good local, CrashLoop',
    [],
  ],
  [
    'takes an assignment of where it goes anyway',
    fallingBack(A, judging()),
    seen(wanting(A)),
    'falling-back (judge): assigned A, active A, good A, CrashLoop',
    [],
  ],
]);

table('unassigning', [
  [
    'gives the node its own config back',
    idle(A),
    seen(wanting(null)),
    'falling-back (install): assigned local, active local, good local, no error',
    ['install local'],
  ],
  [
    'restarts it once',
    fallingBack(null, INSTALLING, { because: 'unassigned' }),
    seen(wanting(null)),
    'falling-back (restart): assigned local, active local, good local, CrashLoop',
    ['restart'],
  ],
  [
    'leaves nothing behind',
    { ...fallingBack(null, judging({ healthyMs: 5_000 }), { because: 'unassigned' }), assigned: A },
    seen(),
    'idle: assigned local, active local, good local, no error',
    ['collect-garbage'],
  ],
  [
    'restarts nothing where local runs already',
    rejecting(null),
    seen(wanting(null)),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
]);

table('a broken node', [
  ['is watched', broken(), seen(wanting(B), DOWN), 'broken: assigned B, active local, good local, CrashLoop', []],
  [
    'is started again now and then where its service manager gave up',
    broken({}, 595_000),
    seen(wanting(B), DOWN, failedService),
    'broken: assigned B, active local, good local, CrashLoop',
    ['restart'],
  ],
  [
    'is left to a service manager that goes on by itself',
    broken({}, 595_000),
    seen(wanting(B), DOWN),
    'broken: assigned B, active local, good local, CrashLoop',
    [],
  ],
  [
    'is well again when its kubelet is steadily healthy',
    broken({ healthy: true, healthyMs: 5_000 }),
    seen(wanting(B)),
    'idle: assigned B, active local, good local, CrashLoop',
    ['collect-garbage'],
  ],
  [
    'tries another config: it may be the remedy',
    broken(),
    seen(wanting(C), DOWN),
    'broken: assigned B, active local, good local, CrashLoop',
    ['stage C'],
  ],
  [
    'does not try the rejected one again',
    broken(),
    seen(wanting(B), DOWN),
    'broken: assigned B, active local, good local, CrashLoop',
    [],
  ],
  [
    'keeps its error when it is unassigned',
    broken(),
    seen(wanting(null), DOWN),
    'broken: assigned local, active local, good local, CrashLoop',
    [],
  ],
]);
