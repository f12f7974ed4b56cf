import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { neededBases, neededConfigs, sameConfig, sameConfigAndBase, type State } from '#agent/decide/state.ts';
import { A, B, fallingBack, idle, INSTALLING, onTrial } from '../../support/agent/states.ts';

const [OLD, NEW] = ['1'.repeat(64), '2'.repeat(64)];
const UNPROVED = { sha256: NEW, to: B, bootId: 'boot-1', absences: 0 };
const over = (base: string) => ({ ...A, base });

describe('the configs of the node’s own that must not be thrown away', () => {
  const rows: readonly (readonly [string, State, readonly string[]])[] = [
    ['none on a node that runs its own', idle(null), []],
    ['none under a config that is laid over none', idle(A), []],
    [
      'the one under what is on trial, and the one under what was good',
      onTrial(INSTALLING, { config: { ...B, base: NEW } }, over(OLD)),
      [OLD, NEW],
    ],
    ['the one under what the node goes back to', { ...fallingBack(over(NEW), INSTALLING), lastKnownGood: null }, [NEW]],
  ];
  for (const [which, state, expected] of rows) {
    it(`are ${which}`, () => assert.deepEqual(neededBases(state), expected));
  }
});

describe('the configs whose checkpoints a node still needs', () => {
  const rows: readonly (readonly [string, State, State['assigned'], readonly State['assigned'][]])[] = [
    ['none on a node that runs its own', idle(null), null, []],
    ['the one that it runs, and the one that is fetched', idle(A), B, [A, A, A, B]],
    ['the one that it would go back to', { ...idle(A), unproved: UNPROVED }, null, [A, A, A, B]],
  ];
  for (const [which, state, staged, expected] of rows) {
    it(`are ${which}`, () => assert.deepEqual(neededConfigs(state, staged), expected));
  }
});

describe('what was proven', () => {
  it('is a config over one config of the node’s own, and over no other', () => {
    assert.equal(sameConfigAndBase(over(OLD), { ...over(OLD), commit: 'another' }), true);
    assert.equal(sameConfigAndBase(over(OLD), over(NEW)), false);
    assert.equal(sameConfigAndBase(over(OLD), A), false);
    assert.equal(sameConfigAndBase(over(OLD), null), false);
    assert.equal(sameConfigAndBase(null, null), true);
  });
});

describe('a config', () => {
  it('is itself alone, wherever its bytes are', () => {
    assert.equal(sameConfig(A, { ...A, source: { ...A.source, uid: 'x', name: 'y' } }), true);
    for (const [one, other] of [
      [A, B],
      [A, null],
      [null, A],
      [A, { ...A, apply: 'replace' }],
    ] as const) {
      assert.equal(sameConfig(one, other), false);
    }
    assert.equal(sameConfig(null, null), true);
  });
});
