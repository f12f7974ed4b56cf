import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { transitionLines } from '#agent/report/log-transitions.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import {
  A,
  B,
  DOWN,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  seen,
  wanting,
} from '../../support/agent/states.ts';

const linesOf = (state: State, observation: Observation) => transitionLines(state, decide(state, observation));
const about = { config: B.source.name, pool: 'general', commit: 'c0ffee' };

describe('the log of an agent', () => {
  it('has nothing to say of a look that changed nothing', () => {
    assert.deepEqual(linesOf(idle(A), seen(wanting(A))), []);
    assert.deepEqual(linesOf(onTrial(judging()), seen(wanting(B))), []);
  });

  it('names config, pool and commit of what is fetched, tried and restarted for', () => {
    assert.deepEqual(linesOf(idle(A), seen(wanting(B))), [
      { level: 'info', message: 'fetching config', fields: about },
    ]);
    const tried = linesOf(idle(A), seen(wanting(B), { staged: { config: B, outcome: 'ready', warnings: [] } }));
    assert.deepEqual(tried, [
      {
        level: 'info',
        message: 'phase changed',
        fields: { from: 'idle', to: 'trial', active: B.source.name, ...about },
      },
    ]);
    const [restart] = linesOf(onTrial(INSTALLING), seen(wanting(B)));
    assert.equal(restart?.message, 'restarting kubelet');
    assert.deepEqual(restart?.fields, {
      because: `trial of ${B.source.name}, pool general, commit c0ffee`,
      ...about,
    });
  });

  it('warns of what is taken back, with the reason, and cries for a broken node', () => {
    const [back] = linesOf(onTrial(judging({ healthy: false, unhealthyMs: 115_000 })), seen(wanting(B), DOWN));
    assert.deepEqual(
      [back?.level, back?.fields['reason'], back?.fields['active']],
      ['warn', 'NotHealthy', A.source.name],
    );
    const [broken] = linesOf(fallingBack(null, judging({ healthy: false, unhealthyMs: 115_000 })), seen(DOWN));
    assert.deepEqual([broken?.level, broken?.fields['to']], ['error', 'broken']);
  });

  it('warns once of an assignment that cannot be had', () => {
    const staged = {
      config: B,
      outcome: 'unavailable',
      failure: { reason: 'DownloadFailed', message: 'away' },
      retryInMs: 1,
    } as const;
    const first = decide(idle(A), seen(wanting(B), { staged }));
    assert.deepEqual(
      transitionLines(idle(A), first).map(({ level, message }) => [level, message]),
      [['warn', 'assignment not taken up']],
    );
    assert.deepEqual(linesOf(first.next, seen(wanting(B), { staged })), []);
  });
});
