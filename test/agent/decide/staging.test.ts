import { ready, refused, unavailable, failedDownload, lost, table } from '../../support/agent/decision-table.ts';
import { A, B, C, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';

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
