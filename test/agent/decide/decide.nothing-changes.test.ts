import type { Config } from '#agent/decide/state.ts';
import { differ, failedService, table } from '../../support/agent/decision-table.ts';
import { A, B, DOWN, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';

const A_REPORTED: Config = { ...A, drift: 'report' };

table('nothing is touched', {
  'while the API server was not heard yet': [idle(A), seen(), 'idle: A'],
  'while the API server is away from a node that took a config back': [
    rejecting(A),
    seen(),
    'idle: B, active A, CrashLoop',
  ],
  'when what is wanted runs already': [idle(A), seen(wanting(A)), 'idle: A'],
  'when the same payload comes from another commit and a ConfigMap made again': [
    idle(A),
    seen(
      wanting({ ...A, commit: 'beef', source: { ...A.source, uid: 'other', resourceVersion: '99', name: 'gpu-x' } }),
    ),
    'idle: A',
  ],
  'when a node that was never assigned anything still is not': [idle(null), seen(wanting(null)), 'idle: local'],
  'when the kubelet is down with a config that once proved itself': [
    idle(A),
    seen(wanting(A), DOWN, failedService),
    'idle: A',
  ],
  'when the files drifted, and the pool only wants to hear of it': [
    idle(A_REPORTED),
    seen(wanting(A_REPORTED), differ),
    'idle: A',
  ],
  'when the assignment cannot be read': [
    idle(A),
    seen({ intent: { intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no uid' } } }),
    'idle: A, InvalidAssignment',
  ],
  'when a rejected config is still assigned': [rejecting(A), seen(wanting(B)), 'idle: B, active A, CrashLoop'],
  'at the first look but for what earlier runs left behind': [
    idle(A),
    seen(wanting(A), { first: true }),
    'idle: A → collect-garbage',
  ],
});
