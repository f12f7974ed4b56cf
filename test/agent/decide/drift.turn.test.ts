import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { driftOf } from '#agent/decide/drift.ts';
import type { Decision } from '#agent/decide/decision.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Config, State } from '#agent/decide/state.ts';
import { contradicts, differ, table } from '../../support/agent/decision-table.ts';
import { A, AT, idle, seen, wanting } from '../../support/agent/states.ts';
import {
  AT_REST,
  base,
  checked,
  checkedOver,
  granted,
  NEW,
  newBase,
  OLD,
  putBack,
  refused,
  REPORTED,
  stale,
} from './support/drift.ts';

const OVER_NEW_BASE = 'trial (install): A';
const BACK_TO_A = 'falling-back (install): A';
const unwatched: Partial<Observation> = { startWasSeen: false };
const unseen: Partial<Observation> = { running: { running: 'unseen', why: 'not allowed' } };
const refusing = (sha256: string): State => ({ ...idle(A), refusedBase: { sha256, message: 'it failed', at: AT } });

table('drift that only a restart ends', {
  'by a new local config waits for a turn': [idle(A), seen(wanting(A), newBase), AT_REST],
  'waits while the API server is away': [idle(A), seen(newBase, checkedOver()), AT_REST],
  'waits where the turn was for something else: the node changed since': [
    idle(A),
    seen(granted('another'), newBase, checkedOver()),
    AT_REST,
  ],
  'is checked first in its turn': [idle(A), seen(granted(), newBase), `${AT_REST} → recheck A to try-over`],
  'is tried over the new local config in its turn, and lastKnownGood is kept': [
    idle(A),
    seen(granted(), newBase, checkedOver()),
    `${OVER_NEW_BASE} → install A`,
  ],
  'has its turn also while the files keep being changed': [
    idle(A),
    seen(granted(), differ, newBase, putBack(4, 3, 2, 1), checkedOver()),
    `${OVER_NEW_BASE} → install A`,
  ],
  'by a new local config that the kubelet would not notice needs no turn': [
    idle(A),
    seen(wanting(A), base(false)),
    `${AT_REST} → collect-garbage`,
  ],
  'is not tried in its turn while the Node cannot be read': [
    idle(A),
    seen(granted(), newBase, checkedOver(), {
      nodeReady: 'unknown',
      strain: { pressures: null, outOfMemory: {}, pods: null, bootId: 'boot-1' },
    }),
    AT_REST,
  ],
  'by a new local config that was refused needs no turn': [
    refusing(NEW),
    seen(granted(), newBase, checkedOver()),
    AT_REST,
  ],
  'is left where it is only to be reported, turn or not': [
    idle(REPORTED),
    seen({ intent: { intent: 'config', config: REPORTED, turn: seen().fingerprint } }, newBase, checkedOver()),
    AT_REST,
  ],
  'of a kubelet that runs something else waits for a turn': [idle(A), seen(wanting(A), stale, contradicts), AT_REST],
  'of a kubelet that may run something else waits for a turn': [idle(A), seen(wanting(A), stale, unseen), AT_REST],
  'of a kubelet that runs something else restarts it with what was proven, in its turn': [
    idle(A),
    seen(granted(), stale, contradicts),
    `${BACK_TO_A} → install A`,
  ],
  'of a kubelet whose start nobody saw may be ended by a restart': [
    idle(A),
    seen(granted(), unwatched, contradicts),
    `${BACK_TO_A} → install A`,
  ],
  'of a kubelet that was started with the right files is not ended by a restart': [
    idle(A),
    seen(granted(), contradicts, checked('none')),
    AT_REST,
  ],
  'of a kubelet that runs as meant needs none, whatever was in place when it was started': [
    idle(A),
    seen(granted(), stale, unwatched),
    AT_REST,
  ],
});

describe('a new local config that its checks refuse', () => {
  const refuse = (): Decision =>
    decide(idle(A), seen(granted(), newBase, checkedOver(refused), { at: '2026-02-02T02:02:02Z' }));

  it('is not tried: the kubelet goes on over the one before, and the node says why', () => {
    const refusal = refuse();
    assert.deepEqual(refusal.actions, []);
    assert.deepEqual(refusal.next, {
      ...idle(A),
      refusedBase: { sha256: NEW, message: 'no such field', at: '2026-02-02T02:02:02Z' },
    });
  });

  it('asks for no further turn', () => {
    const refusal = refuse();
    assert.equal(driftOf(refusal.next, seen(wanting(A), newBase)).drift, 'base-refused');
    const { next, actions } = decide(refusal.next, seen(granted(), newBase));
    assert.deepEqual([next, actions], [refusal.next, []]);
  });

  it('is not held to be refused where the check was about putting files back', () => {
    const config: Config = { ...A, base: OLD };
    const check = checked('put-back', { ...refused, config });
    assert.equal(decide(idle(config), seen(wanting(A), differ, newBase, check)).next.refusedBase, null);
  });
});

describe('what a node at rest says of drift', () => {
  const rows: readonly (readonly [string, State, Observation, ReturnType<typeof driftOf>['drift']])[] = [
    ['files that differ, where that is only to be reported', idle(REPORTED), seen(differ), 'reported'],
    [
      'a kubelet that runs something else, where that is only to be reported',
      idle(REPORTED),
      seen(contradicts),
      'reported',
    ],
    ['nothing that differs, where that would be reported', idle(REPORTED), seen(), 'none'],
    ['a new local config', idle(A), seen(newBase), 'awaits-turn'],
    ['a new local config, where the one before it was refused', refusing('c'.repeat(64)), seen(newBase), 'awaits-turn'],
    ['a new local config that was refused', refusing(NEW), seen(newBase), 'base-refused'],
    ['a refused local config that is gone again', refusing(NEW), seen(), 'none'],
    ['a new local config that the kubelet would not notice', refusing(NEW), seen(base(false)), 'none'],
  ];
  for (const [what, state, observation, expected] of rows) {
    it(`with ${what}: ${expected}`, () => assert.equal(driftOf(state, observation).drift, expected));
  }
});

describe('a kubelet that is restarted because it runs something else', () => {
  it('is told so in the log of its node', () => {
    const { next } = decide(idle(A), seen(granted(), stale, contradicts));
    const [restart] = decide(next, seen(granted(), stale, contradicts)).actions;
    const because = 'back to general-aaaaaaaaaa: the kubelet ran something else, and this is its turn';
    assert.deepEqual(restart, { do: 'restart-kubelet', because, target: A });
  });
});
