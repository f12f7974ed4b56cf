import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Decision } from '#agent/decide/decision.ts';
import type { Config, State } from '#agent/decide/state.ts';
import { ready, table } from '../../support/agent/decision-table.ts';
import { A, AT, B, idle, seen, wanting } from '../../support/agent/states.ts';

const NEW = 'b'.repeat(64);
const RUNS_IT = { staged: ready, runsStaged: true } as const;

table('a config that the kubelet runs already', {
  'is taken over without a trial and without a restart': [
    idle(null),
    seen(wanting(B), RUNS_IT),
    'idle: B → install B, collect-garbage',
  ],
  'takes the place of another one likewise': [
    idle(A),
    seen(wanting(B), RUNS_IT),
    'idle: B → install B, collect-garbage',
  ],
});

describe('a config that was taken over', () => {
  const before: State = {
    ...idle(A),
    error: { reason: 'DownloadFailed', message: 'no answer', at: AT, config: B.source.name },
    refusedBase: { sha256: 'a'.repeat(64), message: 'it failed', at: AT },
  };
  const over: Config = { ...B, base: NEW };
  const taken = (): Decision => decide(before, seen(wanting(B), RUNS_IT, { base: { under: NEW, newer: null } }));

  it('is good from then on, over what the node has of its own, and was promoted at no time', () => {
    assert.deepEqual(taken().next, {
      ...before,
      assigned: over,
      lastKnownGood: over,
      promotedAt: null,
      error: null,
      refusedBase: null,
    });
  });

  it('is installed over that, and looked at again at once', () => {
    const { actions, recheckAfterMs } = taken();
    assert.deepEqual([actions[0], recheckAfterMs], [{ do: 'install', target: over }, 0]);
  });
});
