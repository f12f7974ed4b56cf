import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unknownActive } from '#agent/decide/unknown-active.ts';
import type { Files } from '#agent/decide/observation.ts';
import { A, broken, fallingBack, idle, INSTALLING, judging, onTrial } from '../../support/agent/states.ts';

const lost: Files = { files: 'blocked', message: 'the local config is lost', forGood: false, isLocalLost: true };
const ours: Files = { files: 'differ', path: '/x', areOurs: true };

describe('what the kubelet of a node runs whose state says local', () => {
  for (const [what, state, files, needsPerson] of [
    ['its own config, in its place', idle(null), { files: 'installed' }, undefined],
    ['its own config, damaged by its owner', idle(null), { files: 'differ', path: '/x' }, undefined],
    ['nobody knows: its own config is lost', idle(null), lost, true],
    [
      'nobody knows: its own config cannot be read',
      idle(null),
      { files: 'blocked', message: 'EIO', forGood: false },
      true,
    ],
    [
      'what it ran a moment ago',
      idle(null),
      { files: 'blocked', message: 'EMFILE', forGood: false, mayPass: true },
      undefined,
    ],
    ['nobody knows: there are files of ours', idle(null), ours, false],
    ['nobody knows, and it is broken', broken(), lost, true],
  ] as const) {
    it(`is ${what}`, () => assert.equal(unknownActive(state, { files })?.needsPerson, needsPerson));
  }

  it('is no question while a config of ours is active, or something is being changed', () => {
    for (const state of [idle(A), onTrial(INSTALLING), onTrial(judging()), fallingBack(null, INSTALLING)])
      assert.deepEqual(
        [lost, ours].map((files) => unknownActive(state, { files })),
        [undefined, undefined],
      );
  });
});
