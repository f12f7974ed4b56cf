import type { Config } from '#agent/decide/state.ts';
import { refused, lost, unreadNode, table } from '../../support/agent/decision-table.ts';
import { A, AT, B, C, DOWN, judging, onTrial, rejecting, seen, wanting } from '../../support/agent/states.ts';

const FAULT = { reason: 'DownloadFailed', message: 'no answer' } as const;

const NEW = 'b'.repeat(64);
const OVER_NEW: Config = { ...A, base: NEW };

table('a trial', {
  'goes on without the API server': [onTrial(judging({ healthyMs: 300_000 })), seen(), 'trial (judge): B, good A'],
  'one look before its end': [onTrial(judging({ healthyMs: 594_999 })), seen(wanting(B)), 'trial (judge): B, good A'],
  'ends in promotion after its healthy time': [
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B)),
    'idle: B → collect-garbage',
  ],
  'is as long as the assignment says now': [
    onTrial(judging({ healthyMs: 25_000 })),
    seen(wanting({ ...B, trial: { ...B.trial, durationMs: 30_000 } })),
    'idle: B → collect-garbage',
  ],
  'promotes nothing while the kubelet is down': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(B), DOWN),
    'trial (judge): B, good A',
  ],
  'promotes nothing while the kubelet is down, though it has been long enough by what the assignment says now': [
    onTrial(judging({ healthyMs: 300_000 })),
    seen(wanting({ ...B, trial: { ...B.trial, durationMs: 30_000 } }), DOWN),
    'trial (judge): B, good A',
  ],
  'promotes nothing while the Node cannot be seen': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(B), unreadNode),
    'trial (judge): B, good A',
  ],
  'promotes nothing that the node could not fall back to': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen(lost),
    'trial (judge): B, good A',
  ],
  'is not kept open for a lost checkpoint that nobody fetches: another config is wanted by now': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(C), { staged: { config: C, outcome: 'unavailable', failure: FAULT, retryInMs: 60_000 } }, lost),
    'falling-back (install): B, active A, CheckpointLost → install A',
  ],
  'is not kept open for a lost checkpoint that nobody fetches: the assignment cannot be read': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen({ intent: { intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no uid' } } }, lost),
    'falling-back (install): B, active A, CheckpointLost → install A',
  ],
  'is kept open for a lost checkpoint that is fetched again': [
    onTrial(judging({ healthyMs: 599_999 })),
    seen(wanting(B), lost),
    'trial (judge): B, good A → stage B',
  ],
  'is superseded by a newer config that is ready': [
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C), { staged: { config: C, outcome: 'ready', warnings: [] } }),
    'trial (install): C, good A → install C',
  ],
  'goes on while a newer config is fetched': [
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C)),
    'trial (judge): B, good A → stage C',
  ],
  'goes on when a newer config is refused': [
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(C), { staged: { ...refused, config: C } }),
    'trial (judge): C, active B, good A, ConfigInvalid',
  ],
  'is called off by an assignment of what was good': [
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(A)),
    'falling-back (install): A → install A',
  ],
  'is called off when the node is unassigned': [
    onTrial(judging({ healthyMs: 500_000 })),
    seen(wanting(null)),
    'falling-back (install): local → install local',
  ],
  'of a config that is noted as rejected ends: the agent died between two files': [
    { ...onTrial(judging()), rejected: rejecting(A).rejected },
    seen(wanting(B)),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'of the last known good config is over: the agent died between two files': [
    { ...onTrial(judging()), lastKnownGood: B },
    seen(wanting(B)),
    'idle: B → collect-garbage',
  ],
  'over a new config of the node’s own that is noted as refused ends: the agent died between two files': [
    { ...onTrial(judging(), { config: OVER_NEW }), refusedBase: { sha256: NEW, message: 'it failed', at: AT } },
    seen(wanting(A)),
    'falling-back (install): A → install A',
  ],
});
