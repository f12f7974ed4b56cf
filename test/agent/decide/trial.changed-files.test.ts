import type { Observation } from '#agent/decide/observation.ts';
import { differ, contradicts, table } from '../../support/agent/decision-table.ts';
import { B, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const stale: Partial<Observation> = { startedAsInstalled: false };
const unseen: Partial<Observation> = { running: { running: 'unseen', why: 'not allowed' } };

table('a trial whose kubelet or files are changed by others', {
  'goes on for a kubelet that has run something else for less than 15 seconds': [
    onTrial(judging({ healthy: false, unhealthyMs: 9_999 })),
    seen(wanting(B), contradicts),
    'trial (judge): B, good A',
  ],
  'goes on where somebody else changed the files, and they are put back': [
    onTrial(judging()),
    seen(wanting(B), differ),
    'trial (judge): B, good A → repair B',
  ],
  'has the files put back for the fourth time within an hour': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), differ, { repairAges: [3, 2, 1] }),
    'trial (judge): B, good A → repair B',
  ],
  'goes on where somebody else changed the files again and again, for less than 15 seconds': [
    onTrial(judging({ healthy: false, unhealthyMs: 9_999 })),
    seen(wanting(B), differ, { repairAges: [4, 3, 2, 1] }),
    'trial (judge): B, good A',
  ],
  'begins again where the kubelet was restarted with other files, and blames nobody': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), contradicts, { startedAsInstalled: false }),
    'trial (install): B, good A → install B',
  ],
  'fails soon when the kubelet runs something else': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), contradicts),
    'falling-back (install): B, active A, ConfigContradicted → install A',
  ],
  'fails when somebody else changes the files again and again': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), differ, { repairAges: [4, 3, 2, 1] }),
    'falling-back (install): B, active A, FilesChanged → install A',
  ],
  'begins again where the kubelet was restarted with files that are still there, and nobody sees what it runs': [
    onTrial(judging()),
    seen(wanting(B), differ, unseen, stale),
    'trial (install): B, good A → install B',
  ],
  'goes on where the kubelet was restarted with other files, but runs as meant': [
    onTrial(judging()),
    seen(wanting(B), differ, stale),
    'trial (judge): B, good A → repair B',
  ],
  'goes on where nobody knows with which files the kubelet was restarted: the right ones are in place': [
    onTrial(judging()),
    seen(wanting(B), unseen, stale),
    'trial (judge): B, good A',
  ],
  'goes on where the kubelet runs as meant, whatever was in place when it was started': [
    onTrial(judging({ healthyMs: 595_000 })),
    seen(wanting(B), stale),
    'idle: B → collect-garbage',
  ],
  'fails where the kubelet is restarted with other files again and again': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), contradicts, stale, { repairAges: [4, 3, 2, 1] }),
    'falling-back (install): B, active A, ConfigContradicted → install A',
  ],
});
