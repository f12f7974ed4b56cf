import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { FallingBack, State } from '#agent/decide/state.ts';
import { A, B, C, fallingBack, judging, onTrial, rejecting, seen, TERMS, wanting } from '../../support/agent/states.ts';

const NOT_READY: Partial<Observation> = { nodeReady: 'no', notReady: 'KubeletNotReady: cni plugin not initialized' };

/** On the way back from B, with which the Node was not Ready any more. */
function wayBack(healthyMs: number, parts: Partial<FallingBack> = {}): State {
  const trial = onTrial(judging({ unhealthyMs: 119_000, healthy: false }));
  const { error, rejected } = decide(trial, seen(wanting(B), NOT_READY)).next;
  return { ...fallingBack(A, judging({ healthyMs }), parts), error, rejected };
}

describe('a Node that is not Ready with a config', () => {
  it('says why in the words of its condition', () => {
    const { error } = wayBack(0);
    assert.equal(error?.reason, 'NodeNotReady');
    assert.match(error?.message ?? '', /no longer Ready \(KubeletNotReady: cni plugin not initialized\)/);
  });

  it('gets as long to be Ready without it as it had with it', () => {
    assert.equal(decide(wayBack(9_000), seen(wanting(B), NOT_READY)).next.doing.phase, 'falling-back');
    const late = wayBack(TERMS.startTimeoutMs - 6_000);
    assert.equal(decide(late, seen(wanting(B), NOT_READY)).next.doing.phase, 'falling-back');
  });

  it('and Ready without it has shown what the fault was', () => {
    const { doing, rejected } = decide(wayBack(60_000), seen(wanting(B))).next;
    assert.deepEqual([doing.phase, rejected[0]?.reason], ['idle', 'NodeNotReady']);
  });

  it('and not without it either takes the blame back', () => {
    const { doing, rejected, error } = decide(wayBack(TERMS.startTimeoutMs), seen(wanting(B), NOT_READY)).next;
    assert.deepEqual([doing.phase, rejected.map(({ reason }) => reason)], ['idle', ['UnhealthyBefore']]);
    assert.equal(error?.reason, 'UnhealthyBefore');
    assert.match(error?.message ?? '', /not Ready with general-a\S* either, so it is tried again when it is/);
  });

  it('and that cannot be seen without it takes nothing back', () => {
    const { doing, rejected } = decide(wayBack(60_000), seen(wanting(B), { nodeReady: 'unknown' })).next;
    assert.deepEqual([doing.phase, rejected[0]?.reason], ['idle', 'NodeNotReady']);
  });

  it('keeps the config from being tried as long as that lasts, and has it tried afterwards', () => {
    const settled = decide(wayBack(TERMS.startTimeoutMs), seen(wanting(B), NOT_READY)).next;
    const lasting = decide(settled, seen(wanting(B), NOT_READY));
    assert.deepEqual([lasting.actions, lasting.next], [[], settled]);
    const over = decide(settled, seen(wanting(B)));
    assert.deepEqual([over.actions, over.next.error], [[{ do: 'stage', config: B }], null]);
    assert.deepEqual(over.next.rejected, []);
  });

  it('is nothing that another config was blamed for, and nothing to a node that goes back for another reason', () => {
    const others = { ...wayBack(60_000), assigned: C };
    assert.equal(decide(others, seen(wanting(C), NOT_READY)).next.doing.phase, 'idle');
    const superseded = wayBack(60_000, { because: 'superseded' });
    assert.equal(decide(superseded, seen(wanting(A), NOT_READY)).next.doing.phase, 'idle');
    const drifted = wayBack(60_000, { because: 'drifted' });
    const rested = decide(drifted, seen(wanting(B), NOT_READY)).next;
    assert.deepEqual([rested.doing.phase, rested.rejected[0]?.reason], ['idle', 'NodeNotReady']);
    assert.deepEqual(decide(rejecting(A), seen(wanting(B))).actions, [], 'what crashed is not tried again');
    const crashed = fallingBack(A, judging({ healthyMs: 60_000 }));
    const { doing, rejected } = decide(crashed, seen(wanting(B), NOT_READY)).next;
    assert.deepEqual([doing.phase, rejected[0]?.reason], ['idle', 'CrashLoop']);
  });
  it('stays nothing but the news of what came after it, where the last known good config failed as well', () => {
    const error = {
      reason: 'FallbackFailed',
      message: 'both failed',
      at: '2026-02-02T02:02:02Z',
      config: B.source.name,
    };
    const { next } = decide({ ...wayBack(60_000, { to: null }), error }, seen(wanting(B), NOT_READY));
    assert.deepEqual([next.doing.phase, next.error, next.rejected[0]?.reason], ['idle', error, 'NodeNotReady']);
  });

  it('keeps no way back from ending that nobody is blamed for', () => {
    const overNewBase: State = { ...wayBack(60_000), assigned: A, rejected: [] };
    assert.equal(
      decide(overNewBase, seen(wanting(A), NOT_READY)).next.doing.phase,
      'idle',
      'a new local config failed',
    );
    const unknown: State = { ...wayBack(60_000), assigned: null };
    assert.equal(decide(unknown, seen(NOT_READY)).next.doing.phase, 'idle', 'the record of the assignment is lost');
    const forgiven: State = { ...wayBack(60_000), error: null };
    assert.equal(decide(forgiven, seen(NOT_READY)).next.doing.phase, 'idle', 'a person forgave what it failed for');
  });
});
