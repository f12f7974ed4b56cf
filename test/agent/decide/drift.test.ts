import { contradicts, differ, ready, table } from '../../support/agent/decision-table.ts';
import { A, B, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';
import {
  AT_REST,
  base,
  checked,
  granted,
  newBase,
  OLD,
  overLost,
  putBack,
  refused,
  REPORTED,
  stale,
  unavailable,
} from './support/drift.ts';

const HOUR = 3_600_000;

table('drift on a node at rest', {
  'is checked before it is put back': [idle(A), seen(wanting(A), differ), `${AT_REST} → recheck A to put-back`],
  'of files that the kubelet has not read is repaired without a restart': [
    idle(A),
    seen(wanting(A), differ, checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'of files is left alone where it is only to be reported': [
    idle(REPORTED),
    seen(wanting(REPORTED), differ, checked('put-back')),
    AT_REST,
  ],
  'of files is left alone from the look on that hears that it is only to be reported': [
    idle(A),
    seen(wanting(REPORTED), differ, checked('put-back')),
    AT_REST,
  ],
  'of files with which the kubelet was started is put back at once, without a restart': [
    idle(A),
    seen(wanting(A), differ, stale, contradicts, checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'of files that the kubelet was started without, as can be seen, costs no restart': [
    idle(A),
    seen(wanting(A), differ, stale, checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'of a file of ours is left in place where nobody knows any more over which local config it was proven': [
    idle(A),
    seen(wanting(A), differ, overLost('kept'), checked('put-back')),
    AT_REST,
  ],
  'is put back where that is lost, and nothing of ours is in place': [
    idle(A),
    seen(wanting(A), differ, overLost('gone'), checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'is put back where that is lost, and what is left makes no difference': [
    idle(A),
    seen(wanting(A), differ, overLost('kept', false), checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'by a new local config is undone at once, without a restart': [
    idle(A),
    seen(wanting(A), differ, newBase, checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'of a running config that was started with the right files would not be fixed by a restart': [
    idle(A),
    seen(wanting(A), contradicts, checked('none')),
    AT_REST,
  ],
  'of a running config that was started with the right files is checked all the same: that may say why': [
    idle(A),
    seen(wanting(A), contradicts),
    `${AT_REST} → recheck A to none`,
  ],
  'is repaired while the API server is away': [idle(A), seen(differ, checked('put-back')), `${AT_REST} → repair A`],
  'is repaired where what is assigned was rejected': [
    rejecting(A),
    seen(differ, checked('put-back')),
    'idle: B, active A, CrashLoop → repair A',
  ],
  'is checked before another config is fetched: that one needs something to go back to': [
    idle(A),
    seen(wanting(B), differ),
    `${AT_REST} → recheck A to put-back`,
  ],
  'is repaired while another config is fetched': [
    idle(A),
    seen(wanting(B), differ, checked('put-back')),
    `${AT_REST} → stage B, repair A`,
  ],
  'is over with the trial of another config': [
    idle(A),
    seen(wanting(B), { staged: ready }, differ, checked('put-back')),
    'trial (install): B, good A → install B',
  ],
  'of a node with its own config is nobody’s business': [idle(null), seen(wanting(null), differ), 'idle: local'],
  'of a node with its own config is nobody’s business, whatever passed its checks': [
    idle(null),
    seen(wanting(null), differ, stale, contradicts, newBase, granted(), checked('try-over'), wanting(null)),
    'idle: local',
  ],
  'of a node with its own config is nobody’s business, where that was only written in another way': [
    idle(null),
    seen(wanting(null), base(false)),
    'idle: local',
  ],
});

table('the check of what drifted', {
  'that it did not pass leaves everything as it is': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', refused)),
    AT_REST,
  ],
  'that it did not pass is made again at a later look: the machine may be another by then': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...refused, isNew: false })),
    `${AT_REST} → recheck A to put-back`,
  ],
  'that could not be made is waited for': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...unavailable, isNew: false, retryInMs: 1 })),
    AT_REST,
  ],
  'that could not be made is made again when its time has come': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...unavailable, isNew: false, retryInMs: 0 })),
    `${AT_REST} → recheck A to put-back`,
  ],
  'that it passed before an earlier look says nothing about what drifted since': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', { isNew: false })),
    `${AT_REST} → recheck A to put-back`,
  ],
  'for putting files back is none for trying it over a new local config': [
    idle(A),
    seen(granted(), newBase, checked('put-back')),
    `${AT_REST} → recheck A to try-over`,
  ],
  'over one local config says nothing of another one': [
    idle(A),
    seen(granted(), newBase, checked('try-over', { config: { ...A, base: OLD } })),
    `${AT_REST} → recheck A to try-over`,
  ],
  'of another config says nothing about this one': [
    idle(A),
    seen(wanting(A), differ, checked('put-back', { config: B })),
    `${AT_REST} → recheck A to put-back`,
  ],
  'of a kubelet that ran something else is none for putting files back: they were in place then': [
    idle(A),
    seen(wanting(A), differ, checked('none')),
    `${AT_REST} → recheck A to put-back`,
  ],
  'is nothing to act on where nothing drifted': [idle(A), seen(wanting(A), checked('put-back')), AT_REST],
});

table('drift that comes back', {
  'for the fourth time within an hour is put back': [
    idle(A),
    seen(wanting(A), differ, putBack(3, 2, 1), checked('put-back')),
    `${AT_REST} → repair A`,
  ],
  'for the fifth time within an hour is left alone': [
    idle(A),
    seen(wanting(A), differ, putBack(4, 3, 2, 1), checked('put-back')),
    AT_REST,
  ],
  'is left alone a millisecond before the first repair is an hour old': [
    idle(A),
    seen(wanting(A), differ, putBack(HOUR - 1, 3, 2, 1)),
    AT_REST,
  ],
  'is put back again when the first repair is an hour old': [
    idle(A),
    seen(wanting(A), differ, putBack(HOUR, 3, 2, 1)),
    `${AT_REST} → recheck A to put-back`,
  ],
});
