import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { NodeError } from '#shared/contract/api/kubelet-node.ts';
import type { Trial } from '#agent/decide/state.ts';
import { ready } from '../../support/agent/decision-table.ts';
import { A, B, broken, DOWN, fallingBack, idle, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const trialFrom = (...args: Parameters<typeof decide>): Trial => decide(...args).next.doing as Trial;

describe('a kubelet that was not healthy before the change', () => {
  it('is remembered when the trial begins', () => {
    assert.equal(trialFrom(idle(A), seen(wanting(B), { staged: ready }, DOWN)).wasHealthy, false);
    assert.equal(trialFrom(idle(A), seen(wanting(B), { staged: ready })).wasHealthy, true);
  });

  it('counts as well where nothing is left to fall back to: otherwise a broken node would try forever', () => {
    assert.equal(trialFrom({ ...broken(), rejected: [] }, seen(wanting(B), { staged: ready }, DOWN)).wasHealthy, true);
  });

  it('is not blamed on the config, which is given another chance when the kubelet is well again', () => {
    const trial = onTrial(judging({ unhealthyMs: 119_000, healthy: false }), { wasHealthy: false });
    const failed = decide(trial, seen(wanting(B), DOWN)).next;
    assert.equal(failed.error?.reason, 'UnhealthyBefore');
    assert.match(failed.error?.message ?? '', /not healthy before either/);
    assert.equal(failed.rejected.length, 1);

    const { error, rejected } = failed;
    const back = { ...fallingBack(A, judging({ healthyMs: 9_000 })), error, rejected };
    const settled = decide(back, seen(wanting(B))).next;
    assert.deepEqual([settled.doing.phase, settled.rejected, settled.error], ['idle', [], error]);
    assert.deepEqual(decide(settled, seen(wanting(B))).actions, [{ do: 'stage', config: B }]);
    const tried = decide(settled, seen(wanting(B), { staged: ready })).next;
    assert.deepEqual([tried.doing.phase, (tried.doing as Trial).wasHealthy, tried.error], ['trial', true, null]);
  });

  it('is waited for, and not blamed again and again: a config that fails then would be tried forever', () => {
    const trial = onTrial(judging({ unhealthyMs: 119_000, healthy: false }), { wasHealthy: false });
    const { error, rejected } = decide(trial, seen(wanting(B), DOWN)).next;
    for (const back of [fallingBack(A, judging({ healthyMs: 9_000 })), broken({ healthyMs: 9_000, healthy: true })]) {
      const settled = decide({ ...back, error, rejected }, seen(wanting(B))).next;
      assert.equal(settled.error?.reason, 'UnhealthyBefore');
      const waiting = decide(settled, seen(wanting(B), { staged: ready }, DOWN));
      assert.deepEqual([waiting.next, waiting.actions], [settled, []]);
      // Another config is another matter.
      const other = { ...B, source: { ...B.source, name: 'other-1', sha256: 'f'.repeat(64) } };
      const staged = { config: other, outcome: 'ready', warnings: [] } as const;
      assert.equal(decide(settled, seen(wanting(other), { staged }, DOWN)).next.doing.phase, 'trial');
    }
  });

  it('has its entry among the rejected forgotten, and no error', () => {
    const trial = onTrial(judging({ unhealthyMs: 119_000, healthy: false }), { wasHealthy: false });
    const { rejected } = decide(trial, seen(wanting(B), DOWN)).next;
    const restedWith = (error: NodeError | null) =>
      decide({ ...fallingBack(A, judging({ healthyMs: 9_000 })), error, rejected }, seen()).next.error;
    assert.equal(restedWith(null), null);
    const other = { reason: 'DownloadFailed', message: 'away', at: '2026-01-01T00:00:00Z' };
    assert.deepEqual(restedWith(other), other);
  });

  it('keeps the config from being tried while no config works', () => {
    const trial = onTrial(judging({ unhealthyMs: 119_000, healthy: false }), { wasHealthy: false });
    const { error, rejected } = decide(trial, seen(wanting(B), DOWN)).next;
    const stuck = { ...broken(), error, rejected };
    assert.deepEqual(decide(stuck, seen(wanting(B), DOWN)).actions, []);
    const well = decide({ ...broken({ healthyMs: 9_000, healthy: true }), error, rejected }, seen(wanting(B)));
    assert.deepEqual([well.next.doing.phase, well.next.rejected], ['idle', []]);
  });
});
