import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import type { Decision } from '#agent/decide/decision.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { State } from '#agent/decide/state.ts';
import { createExplain } from '#agent/execute/explain.ts';
import type { LastErrorsQuery, LogMark } from '#agent/ports/last-errors.ts';
import { createManualClock, settle } from '../../support/manual-clock.ts';
import { AT, B, DOWN, fallingBack, A, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const never = new AbortController().signal;
const FAILED = seen(wanting(B), DOWN);
const ON_TRIAL: State = onTrial(judging({ healthy: false, unhealthyMs: 200_000 }));
const SAID = /\. The kubelet’s last error: “no such gate”$/;
const runs = (run: string | null): Observation => seen(wanting(B), { service: { ...DOWN.service, run } } as never);

/** A node whose trial has just failed, of which the log had nothing yet. */
async function failed() {
  const clock = createManualClock();
  const asked: LastErrorsQuery[] = [];
  const answers: ((words: readonly string[]) => void)[] = [];
  let wakes = 0;
  const explain = createExplain({
    readLastErrors(wanted) {
      asked.push(wanted);
      return asked.length === 1 ? Promise.resolve([]) : new Promise((resolve) => void answers.push(resolve));
    },
    clock,
    wake: () => void (wakes += 1),
  });
  const first = await explain(ON_TRIAL, decide(ON_TRIAL, FAILED), FAILED, never);
  let state = first.next;
  /** A turn in which nothing is decided. */
  const turn = async (look: Observation = runs('run-1')): Promise<Decision> => {
    const decision = await explain(state, { next: state, actions: [], recheckAfterMs: 60_000 }, look, never);
    state = decision.next;
    return decision;
  };
  return {
    asked,
    turn,
    wakes: () => wakes,
    state: () => state,
    set: (next: State) => void (state = next),
    pass: (ms: number) => clock.advance(ms),
    /** The look that is under way comes to that. */
    async answer(words: readonly string[]) {
      answers.shift()?.(words);
      await settle();
    },
  };
}

describe('a kubelet’s own log file', () => {
  const mark = (offset: number): LogMark => ({ offset, tail: Buffer.alloc(0) });
  const RESTART: Decision['actions'] = [{ do: 'restart-kubelet', because: 'test', target: null }];

  const START: Decision['actions'] = [{ do: 'start-kubelet', because: 'test', target: null }];

  /** An agent whose kubelet has written ten bytes more at each moment that is marked. */
  function agent() {
    const asked: LastErrorsQuery[] = [];
    let offset = 0;
    const explain = createExplain({
      readLastErrors(wanted) {
        asked.push(wanted);
        return Promise.resolve(['no such gate']);
      },
      markLog: () => Promise.resolve(mark((offset += 10))),
      clock: createManualClock(),
      wake: () => undefined,
    });
    const turn = (before: State, decision: Decision, look: Observation) => explain(before, decision, look, never);
    const restart = () => turn(ON_TRIAL, { next: ON_TRIAL, actions: RESTART, recheckAfterMs: 0 }, seen(wanting(B)));
    return { asked, turn, restart };
  }

  it('is read from the last restart before the failure, not from that of the way back', async () => {
    const { asked, turn, restart } = agent();
    await restart();
    await turn(ON_TRIAL, { next: ON_TRIAL, actions: START, recheckAfterMs: 0 }, seen(wanting(B)));
    const failure = decide(ON_TRIAL, FAILED);
    const back = { ...failure, actions: [...failure.actions, ...RESTART] };
    await turn(ON_TRIAL, back, FAILED);
    assert.deepEqual(asked.at(-1)?.mark, mark(20));
    await turn(ON_TRIAL, failure, FAILED);
    assert.deepEqual(asked.at(-1)?.mark, mark(30));
  });

  it('is marked at no other turn', async () => {
    const { asked, turn, restart } = agent();
    await restart();
    const stays: Decision = { next: ON_TRIAL, actions: [{ do: 'reassure-guard' }], recheckAfterMs: 0 };
    for (let turns = 0; turns < 3; turns += 1) await turn(ON_TRIAL, stays, seen(wanting(B)));
    await turn(ON_TRIAL, decide(ON_TRIAL, FAILED), FAILED);
    assert.deepEqual(asked.at(-1)?.mark, mark(10));
  });

  it('is not read by an agent that did not see the restart, or where the present run is of another config', async () => {
    const { asked, turn, restart } = agent();
    await turn(ON_TRIAL, decide(ON_TRIAL, FAILED), FAILED);
    assert.equal(asked.at(-1)?.mark, undefined);
    await restart();
    const run = FAILED.service.run ?? '';
    const untouched = onTrial(judging({ healthy: false, unhealthyMs: 200_000 }), { before: { run, bootId: 'boot-1' } });
    await turn(untouched, decide(untouched, FAILED), FAILED);
    assert.deepEqual(asked.at(-1), { since: AT, notOf: [run] });
  });
});

describe('an explanation that the log has only later', () => {
  it('is added to all that the decision said, in the turn after it was found', async () => {
    const node = await failed();
    assert.equal((await node.turn()).recheckAfterMs, 1_000);
    await node.pass(1_000);
    await node.turn();
    assert.equal(node.wakes(), 0);
    await node.answer(['no such gate']);
    assert.equal(node.wakes(), 1);
    await node.turn();
    assert.match(node.state().error?.message ?? '', SAID);
    assert.match(node.state().rejected.at(-1)?.message ?? '', SAID);
    await node.pass(60_000);
    assert.equal((await node.turn()).recheckAfterMs, 60_000);
    assert.equal(node.asked.length, 2);
  });

  it('is added again where the disk did not take it', async () => {
    const node = await failed();
    const unsaved = node.state();
    await node.pass(1_000);
    await node.turn();
    await node.answer(['no such gate']);
    await node.turn();
    node.set(unsaved);
    await node.turn();
    assert.match(node.state().error?.message ?? '', SAID);
  });

  it('delays no turn, however long the log takes to answer', async () => {
    const node = await failed();
    for (let seconds = 0; seconds < 10; seconds += 1) {
      await node.pass(1_000);
      // It would not come back.
      await node.turn();
    }
    assert.equal(node.asked.length, 2);
  });

  it('is looked for six more times, and then no more, where the log never has any', async () => {
    const node = await failed();
    let last: Decision | undefined;
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await node.pass(1_000);
      last = await node.turn();
      await node.answer([]);
    }
    assert.equal(node.asked.length, 7);
    assert.equal(last?.recheckAfterMs, 60_000);
    assert.doesNotMatch(node.state().error?.message ?? '', /last error/);
  });

  it('is none of a run that began with what the node went back to', async () => {
    const node = await failed();
    await node.pass(1_000);
    await node.turn();
    await node.answer(['perhaps of run-2']);
    await node.turn(runs('run-2'));
    assert.doesNotMatch(node.state().error?.message ?? '', /last error/);
    await node.pass(2_000);
    await node.turn(runs('run-2'));
    assert.deepEqual(node.asked.at(-1), { since: AT, notOf: [...(node.asked[0]?.notOf ?? []), 'run-2'] });
    await node.answer(['no such gate']);
    await node.turn(runs('run-2'));
    assert.match(node.state().error?.message ?? '', SAID);
  });

  it('is added to nothing that another decision said', async () => {
    const node = await failed();
    const next: State = { ...fallingBack(A, judging({ healthy: false, unhealthyMs: 200_000 })) };
    await node.pass(1_000);
    await node.turn();
    node.set(next);
    await node.answer(['no such gate']);
    await node.turn();
    assert.equal(node.state(), next);
  });
});
