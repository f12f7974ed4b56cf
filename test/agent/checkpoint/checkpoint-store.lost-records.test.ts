import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { sameConfig, type State, withRejected } from '#agent/decide/state.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { A, AT, B, fallingBack, idle, onTrial } from '../../support/agent/states.ts';

const WHY = { reason: 'CrashLoop', message: 'it died', at: AT } as const;

/** What an agent finds that starts after these records were torn. */
async function after(state: State, ...torn: readonly string[]): Promise<State> {
  const disk = createMemoryDisk();
  await createCheckpointStore(disk, '/state', 'node-a').save(state);
  for (const name of torn) disk.plant(`/state/meta/${name}`, 'torn');
  return (await createCheckpointStore(disk, '/state', 'node-a').load(AT)).state;
}

const REJECTED = withRejected({ ...idle(A), assigned: B }, B, WHY);

describe('a node that lost the record of what was good', () => {
  it('knows it from the one of what was rejected', async () => {
    const { lastKnownGood, assigned, rejected } = await after(REJECTED, 'last-known-good');
    assert.ok(sameConfig(lastKnownGood, A));
    assert.ok(sameConfig(assigned, B));
    assert.equal(rejected.length, 1);
  });

  it('does not take for good what only was forgiven and is still to be tried again', async () => {
    const forgiven: State = { ...idle(A), assigned: B };
    assert.ok(sameConfig((await after(forgiven, 'last-known-good')).lastKnownGood, A));
  });

  it('takes for good what is assigned, and neither on trial nor rejected', async () => {
    assert.ok(sameConfig((await after(idle(A), 'last-known-good')).lastKnownGood, A));
  });

  it('believes of no run of the kubelet any more that it has what the node goes back to', async () => {
    const run = { run: 'run-1', bootId: 'boot-1' };
    const trial = await after(onTrial({ step: 'install' }, { before: run }), 'last-known-good');
    assert.equal(trial.doing.phase === 'trial' ? trial.doing.before : run, null);
    const back = await after(fallingBack(A, { step: 'install', running: run }), 'last-known-good', 'rejected');
    assert.deepEqual(back.doing.phase === 'falling-back' ? back.doing.change : undefined, { step: 'install' });
  });

  it('touches nothing where nothing else tells, and tries again what is still wanted', async () => {
    for (const other of ['rejected', 'assigned']) {
      const state = await after(other === 'rejected' ? REJECTED : idle(A), 'last-known-good', other);
      assert.deepEqual([state.doing.phase, state.assigned, state.lastKnownGood], ['idle', null, null], other);
    }
  });
});

describe('a node whose agent died while it wrote down what is on trial', () => {
  it('has that assigned, and not what was assigned before it', async () => {
    const half: State = { ...onTrial({ step: 'install' }), assigned: A, lastKnownGood: null };
    const { assigned, doing } = await after(half);
    assert.ok(doing.phase === 'trial' && sameConfig(assigned, doing.config));
  });

  it('goes back to what it was in the middle of, where two records are lost', async () => {
    const { doing } = await after(onTrial({ step: 'install' }, {}), 'trial', 'assigned');
    assert.equal(doing.phase, 'falling-back');
  });
});
