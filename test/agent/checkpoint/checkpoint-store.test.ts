import assert from 'node:assert/strict';
import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { INITIAL_STATE } from '#agent/decide/state.ts';
import { arbitraryState } from '../../support/agent/arbitrary.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { runsOf } from '../../support/sample.ts';
import {
  A,
  AT,
  B,
  broken,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
} from '../../support/agent/states.ts';
import { documentOf } from './support/references.ts';
import { DIRECTORY, load, reachable, saved } from './support/saved.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('the checkpoint store', () => {
  it('reads a node that was never assigned anything from an empty disk, and has nothing to say about it', async () => {
    assert.deepEqual(await load(createMemoryDisk()), { state: INITIAL_STATE, problems: [], unreadable: null });
  });

  it('reads back every state that it wrote', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryState, async (arbitrary) => {
        const state = reachable(structuredClone(arbitrary));
        // Local has no file to keep the time in, and needs none.
        const promotedAt = state.lastKnownGood === null ? null : state.promotedAt;
        const disk = await saved({ ...state, promotedAt });
        const { state: read, problems } = await load(disk);
        assert.deepEqual(problems, []);
        assert.deepEqual(read, { ...state, promotedAt });
      }),
      { numRuns: runsOf(300, 5) },
    );
  });

  it('writes a reference as the kind that the kubelet wrote, so that tools that know it read it', async () => {
    const disk = await saved({ ...idle(A), promotedAt: '2026-03-03T03:03:03Z' });
    const text = disk.tree()['/state/meta/last-known-good'] ?? '';
    assert.deepEqual(JSON.parse(text), documentOf({ target: A, promotedAt: '2026-03-03T03:03:03Z' }));
    assert.equal(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`, 'for people, too');
  });

  it('writes nothing for local, as the kubelet did', async () => {
    const disk = await saved(idle(A));
    await createCheckpointStore(disk, DIRECTORY, 'node-a').save(idle(null));
    assert.equal(disk.tree()['/state/meta/assigned'], '');
  });

  it('writes only what changed, and nothing at all on a node that has nothing', async () => {
    const disk = createMemoryDisk();
    const store = createCheckpointStore(disk, DIRECTORY, 'node-a');
    const { state } = await store.load(AT);
    await store.save(state);
    assert.deepEqual(Object.values(disk.tree()), ['(directory)', '(directory)', '(directory)']);
    await store.save(onTrial(INSTALLING));
    const before = disk.changes();
    await store.save({ ...onTrial(INSTALLING) });
    assert.equal(disk.changes(), before);
    await store.save(onTrial(RESTARTING));
    assert.equal(disk.changes(), before + 1);
  });

  it('writes again what failed to be written', async () => {
    const disk = await saved(idle(A));
    const store = createCheckpointStore(disk, DIRECTORY, 'node-a');
    await store.load(AT);
    disk.failAfter(1);
    await assert.rejects(store.save(onTrial(INSTALLING)), { code: 'DISK_WRITE' });
    disk.failAfter(null);
    await store.save(onTrial(INSTALLING));
    assert.deepEqual((await load(disk)).state, onTrial(INSTALLING));
  });

  it('leaves the state directory where a link leads, with all that is there', async (t) => {
    const root = temporaryDirectory(t);
    const [there, link] = [join(root, 'big-disk'), join(root, 'kubelet-gitops')];
    await mkdir(there);
    await symlink('big-disk', link);
    await mkdir(join(there, 'local'));
    await writeFile(join(there, 'local', 'kubelet'), 'the only copy');
    for (const state of [idle(A), idle(B)]) {
      const store = createCheckpointStore(createNodeDisk(), link, 'node-a');
      await store.load(AT);
      await store.save(state);
      assert.deepEqual((await createCheckpointStore(createNodeDisk(), link, 'node-a').load(AT)).state, state);
    }
    assert.equal((await lstat(link)).isSymbolicLink(), true);
    assert.equal(await readFile(join(link, 'local', 'kubelet'), 'utf8'), 'the only copy');
  });

  it('puts aside what stands in the way of its files', async () => {
    const disk = createMemoryDisk();
    disk.plant('/state', 'a file');
    await createCheckpointStore(disk, DIRECTORY, 'node-a').save(onTrial(INSTALLING));
    disk.plant('/state/meta/trial', { directory: true });
    disk.plant('/state/meta/trial/inside', 'x');
    const store = createCheckpointStore(disk, DIRECTORY, 'node-a');
    const { problems } = await store.load(AT);
    assert.equal(problems.length, 1);
    await store.save(onTrial(RESTARTING));
    assert.deepEqual((await load(disk)).state, onTrial(RESTARTING));
  });

  it('does the same on a real disk', async (t) => {
    const directory = temporaryDirectory(t);
    const store = createCheckpointStore(createNodeDisk(), join(directory, 'state'), 'node-a');
    for (const state of [onTrial(RESTARTING), rejecting(A), fallingBack(null, judging()), broken(), idle(A)]) {
      await store.save(state);
      const { state: read, problems } = await createCheckpointStore(
        createNodeDisk(),
        join(directory, 'state'),
        'node-a',
      ).load(AT);
      assert.deepEqual([read, problems], [state, []]);
    }
    assert.match(await readFile(join(directory, 'state/meta/assigned'), 'utf8'), /"SerializedNodeConfigSource"/);
  });
});
