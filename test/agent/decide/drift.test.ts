import type { Observation, Rechecked } from '#agent/decide/observation.ts';
import type { Config } from '#agent/decide/state.ts';
import { contradicts, differ, ready, table } from '../../support/agent/decision-table.ts';
import { A, B, idle, rejecting, seen, wanting } from '../../support/agent/states.ts';

const HOUR = 3_600_000;
const AT_REST = 'idle: assigned A, active A, good A, no error';
const OVER_NEW_BASE = 'trial (install): assigned A, active A, good A, no error';
const BACK_TO_A = 'falling-back (install): assigned A, active A, good A, no error';

/** What the check before this look came to. */
const checked = (remedy: Rechecked['remedy'], parts: Partial<Rechecked> = {}): Partial<Observation> => ({
  rechecked: { config: A, remedy, result: { outcome: 'ready', warnings: [] }, isNew: true, retryInMs: 2_000, ...parts },
});
const FAILURE = { reason: 'ConfigInvalid', message: 'no such field' } as const;
const refused: Partial<Rechecked> = { result: { outcome: 'refused', failure: FAILURE } };
const unavailable: Partial<Rechecked> = { result: { outcome: 'unavailable', failure: FAILURE } };
const putBack = (...ages: readonly number[]): Partial<Observation> => ({ repairAges: ages });
const OLD = 'a'.repeat(64);
const NEW = 'b'.repeat(64);
const base = (changes: boolean): Partial<Observation> => ({ base: { under: OLD, newer: { sha256: NEW, changes } } });
const newBase = base(true);
const overLost = (lost: 'kept' | 'gone', changes = true): Partial<Observation> => ({
  base: { under: NEW, newer: { sha256: NEW, changes, lost } },
});
const stale: Partial<Observation> = { startedAsInstalled: false };
const unwatched: Partial<Observation> = { startWasSeen: false };
const granted = (turn = seen().fingerprint): Partial<Observation> => ({
  intent: { intent: 'config', config: A, turn },
});
/** What the check before this look came to, of A over the new base. */
const checkedOver = (parts: Partial<Rechecked> = {}): Partial<Observation> =>
  checked('try-over', { config: { ...A, base: NEW }, ...parts });
const unseen: Partial<Observation> = { running: { running: 'unseen', why: 'not allowed' } };
const REPORTED: Config = { ...A, drift: 'report' };

table('drift on a node at rest', [
  ['is checked before it is put back', idle(A), seen(wanting(A), differ), AT_REST, ['recheck A to put-back']],
  [
    'of files that the kubelet has not read is repaired without a restart',
    idle(A),
    seen(wanting(A), differ, checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'of files is left alone where it is only to be reported',
    idle(REPORTED),
    seen(wanting(REPORTED), differ, checked('put-back')),
    AT_REST,
    [],
  ],
  [
    'of files is left alone from the look on that hears that it is only to be reported',
    idle(A),
    seen(wanting(REPORTED), differ, checked('put-back')),
    AT_REST,
    [],
  ],
  [
    'of files with which the kubelet was started is put back at once, without a restart',
    idle(A),
    seen(wanting(A), differ, stale, contradicts, checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'of files that the kubelet was started without, as can be seen, costs no restart',
    idle(A),
    seen(wanting(A), differ, stale, checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'of a file of ours is left in place where nobody knows any more over which local config it was proved',
    idle(A),
    seen(wanting(A), differ, overLost('kept'), checked('put-back')),
    AT_REST,
    [],
  ],
  [
    'is put back where that is lost, and nothing of ours is in place',
    idle(A),
    seen(wanting(A), differ, overLost('gone'), checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'is put back where that is lost, and what is left makes no difference',
    idle(A),
    seen(wanting(A), differ, overLost('kept', false), checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'by a new local config is undone at once, without a restart',
    idle(A),
    seen(wanting(A), differ, newBase, checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'of a running config that was started with the right files would not be mended by a restart',
    idle(A),
    seen(wanting(A), contradicts, checked('none')),
    AT_REST,
    [],
  ],
  [
    'of a running config that was started with the right files is checked all the same: that may say why',
    idle(A),
    seen(wanting(A), contradicts),
    AT_REST,
    ['recheck A to none'],
  ],
  ['is repaired while the API server is away', idle(A), seen(differ, checked('put-back')), AT_REST, ['repair A']],
  [
    'is repaired where what is assigned was rejected',
    rejecting(A),
    seen(differ, checked('put-back')),
    'idle: assigned B, active A, good A, CrashLoop',
    ['repair A'],
  ],
  [
    'is checked before another config is fetched: that one needs something to go back to',
    idle(A),
    seen(wanting(B), differ),
    AT_REST,
    ['recheck A to put-back'],
  ],
  [
    'is repaired while another config is fetched',
    idle(A),
    seen(wanting(B), differ, checked('put-back')),
    AT_REST,
    ['stage B', 'repair A'],
  ],
  [
    'is over with the trial of another config',
    idle(A),
    seen(wanting(B), { staged: ready }, differ, checked('put-back')),
    'trial (install): assigned B, active B, good A, no error',
    ['install B'],
  ],
  [
    'of a node with its own config is nobody’s business',
    idle(null),
    seen(wanting(null), differ),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
  [
    'of a node with its own config is nobody’s business, whatever passed its checks',
    idle(null),
    seen(wanting(null), differ, stale, contradicts, newBase, granted(), checked('try-over'), wanting(null)),
    'idle: assigned local, active local, good local, no error',
    [],
  ],
]);

table('the check of what drifted', [
  [
    'that it did not pass leaves everything as it is',
    idle(A),
    seen(wanting(A), differ, checked('put-back', refused)),
    AT_REST,
    [],
  ],
  [
    'that it did not pass is made again at a later look: the machine may be another by then',
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...refused, isNew: false })),
    AT_REST,
    ['recheck A to put-back'],
  ],
  [
    'that could not be made is waited for',
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...unavailable, isNew: false, retryInMs: 1 })),
    AT_REST,
    [],
  ],
  [
    'that could not be made is made again when its time has come',
    idle(A),
    seen(wanting(A), differ, checked('put-back', { ...unavailable, isNew: false, retryInMs: 0 })),
    AT_REST,
    ['recheck A to put-back'],
  ],
  [
    'that it passed before an earlier look says nothing about what drifted since',
    idle(A),
    seen(wanting(A), differ, checked('put-back', { isNew: false })),
    AT_REST,
    ['recheck A to put-back'],
  ],
  [
    'for putting files back is none for trying it over a new local config',
    idle(A),
    seen(granted(), newBase, checked('put-back')),
    AT_REST,
    ['recheck A to try-over'],
  ],
  [
    'over one local config says nothing of another one',
    idle(A),
    seen(granted(), newBase, checked('try-over', { config: { ...A, base: OLD } })),
    AT_REST,
    ['recheck A to try-over'],
  ],
  [
    'of another config says nothing about this one',
    idle(A),
    seen(wanting(A), differ, checked('put-back', { config: B })),
    AT_REST,
    ['recheck A to put-back'],
  ],
  ['is nothing to act on where nothing drifted', idle(A), seen(wanting(A), checked('put-back')), AT_REST, []],
]);

table('drift that comes back', [
  [
    'for the fourth time within an hour is put back',
    idle(A),
    seen(wanting(A), differ, putBack(3, 2, 1), checked('put-back')),
    AT_REST,
    ['repair A'],
  ],
  [
    'for the fifth time within an hour is left alone',
    idle(A),
    seen(wanting(A), differ, putBack(4, 3, 2, 1), checked('put-back')),
    AT_REST,
    [],
  ],
  [
    'is left alone a millisecond before the first repair is an hour old',
    idle(A),
    seen(wanting(A), differ, putBack(HOUR - 1, 3, 2, 1)),
    AT_REST,
    [],
  ],
  [
    'is put back again when the first repair is an hour old',
    idle(A),
    seen(wanting(A), differ, putBack(HOUR, 3, 2, 1)),
    AT_REST,
    ['recheck A to put-back'],
  ],
]);

table('drift that only a restart ends', [
  ['by a new local config waits for a turn', idle(A), seen(wanting(A), newBase), AT_REST, []],
  ['waits while the API server is away', idle(A), seen(newBase, checkedOver()), AT_REST, []],
  [
    'waits where the turn was for something else: the node changed since',
    idle(A),
    seen(granted('another'), newBase, checkedOver()),
    AT_REST,
    [],
  ],
  ['is checked first in its turn', idle(A), seen(granted(), newBase), AT_REST, ['recheck A to try-over']],
  [
    'is tried over the new local config in its turn, and lastKnownGood is kept',
    idle(A),
    seen(granted(), newBase, checkedOver()),
    OVER_NEW_BASE,
    ['install A'],
  ],
  [
    'has its turn also while the files keep being changed',
    idle(A),
    seen(granted(), differ, newBase, putBack(4, 3, 2, 1), checkedOver()),
    OVER_NEW_BASE,
    ['install A'],
  ],
  [
    'by a new local config that the kubelet would not notice needs no turn',
    idle(A),
    seen(wanting(A), base(false)),
    AT_REST,
    ['collect-garbage'],
  ],
  [
    'by a new local config that was refused needs no turn',
    { ...idle(A), refusedBase: { sha256: NEW, message: 'it failed', at: 'then' } },
    seen(granted(), newBase, checkedOver()),
    AT_REST,
    [],
  ],
  [
    'is left where it is only to be reported, turn or not',
    idle(REPORTED),
    seen({ intent: { intent: 'config', config: REPORTED, turn: seen().fingerprint } }, newBase, checkedOver()),
    AT_REST,
    [],
  ],
  [
    'of a kubelet that runs something else waits for a turn',
    idle(A),
    seen(wanting(A), stale, contradicts),
    AT_REST,
    [],
  ],
  ['of a kubelet that may run something else waits for a turn', idle(A), seen(wanting(A), stale, unseen), AT_REST, []],
  [
    'of a kubelet that runs something else restarts it with what was proved, in its turn',
    idle(A),
    seen(granted(), stale, contradicts),
    BACK_TO_A,
    ['install A'],
  ],
  [
    'of a kubelet whose start nobody saw may be ended by a restart',
    idle(A),
    seen(granted(), unwatched, contradicts),
    BACK_TO_A,
    ['install A'],
  ],
  [
    'of a kubelet that was started with the right files is not ended by a restart',
    idle(A),
    seen(granted(), contradicts, checked('none')),
    AT_REST,
    [],
  ],
  [
    'of a kubelet that runs as meant needs none, whatever was in place when it was started',
    idle(A),
    seen(granted(), stale, unwatched),
    AT_REST,
    [],
  ],
]);
