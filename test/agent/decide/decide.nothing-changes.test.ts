import type { Config } from '#agent/decide/state.ts';
import { differ, failedService, table } from '../../support/agent/decision-table.ts';
import { A, B, DOWN, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';

const A_REPORTED: Config = { ...A, drift: 'report' };

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
    'when the same payload comes from another commit and a ConfigMap made again',
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
  [
    'when the files drifted, and the pool only wants to hear of it',
    idle(A_REPORTED),
    seen(wanting(A_REPORTED), differ),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
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
