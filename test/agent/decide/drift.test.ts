import type { Observation, Repair } from '#agent/decide/observation.ts';
import { contradicts, differ, table } from '../../support/agent/decision-table.ts';
import { A, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';

const repair = (value: Repair): Partial<Observation> => ({ repair: value });
const ready = repair({ repair: 'ready', newBase: false });
const newBase = repair({ repair: 'ready', newBase: true });
const stale: Partial<Observation> = { startedAsInstalled: false };
const unseen: Partial<Observation> = { running: { running: 'unseen', why: 'not allowed' } };

table('drift on a node at rest', [
  [
    'of files that the kubelet has not read is repaired without a restart',
    idle(A),
    seen(wanting(A), differ, ready),
    'idle: assigned A, active A, good A, no error',
    ['repair A'],
  ],
  [
    'of files is left alone where it is only to be reported, or would not do any more, or comes again and again',
    idle(A),
    seen(wanting(A), differ),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  [
    'of files with which the kubelet was started is tried again over local',
    idle(A),
    seen(wanting(A), differ, ready, stale, contradicts),
    'trial (install): assigned A, active A, good local, no error',
    ['install A'],
  ],
  [
    'of files with which the kubelet may have been started, where nobody can look, is tried again as well',
    idle(A),
    seen(wanting(A), differ, ready, stale, unseen),
    'trial (install): assigned A, active A, good local, no error',
    ['install A'],
  ],
  [
    'of files that the kubelet was started without, as can be seen, costs no restart',
    idle(A),
    seen(wanting(A), differ, ready, stale),
    'idle: assigned A, active A, good A, no error',
    ['repair A'],
  ],
  [
    'by a new local config is tried again over it, whatever the kubelet runs',
    idle(A),
    seen(wanting(A), differ, newBase),
    'trial (install): assigned A, active A, good local, no error',
    ['install A'],
  ],
  [
    'of a running config that was started with the right files would not be mended by a restart',
    idle(A),
    seen(wanting(A), contradicts, ready),
    'idle: assigned A, active A, good A, no error',
    [],
  ],
  [
    'is repaired while the API server is away',
    idle(A),
    seen(differ, ready),
    'idle: assigned A, active A, good A, no error',
    ['repair A'],
  ],
  [
    'is repaired where what is assigned was rejected',
    rejecting(A),
    seen(differ, ready),
    'idle: assigned B, active A, good A, CrashLoop',
    ['repair A'],
  ],
  [
    'of a node with its own config is nobody’s business',
    idle(null),
    seen(wanting(null), differ),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
]);
