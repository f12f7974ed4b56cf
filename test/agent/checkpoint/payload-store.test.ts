import assert from 'node:assert/strict';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import type { Config } from '#agent/decide/state.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { A, B, C, fallingBack, idle, INSTALLING, judging, onTrial } from '../../support/agent/states.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** The payload of a test config is the letter that its SHA-256 is of. */
const letterOf = ({ source: { name } }: Config): string => name.slice(-1);

function storeWith(...configs: readonly Config[]) {
  const disk = createMemoryDisk();
  const store = createCheckpointStore(disk, '/state', 'node-a');
  const ready = (async () => {
    for (const config of configs) await store.payloads.write(config, letterOf(config));
  })();
  return { disk, store, ready };
}

describe('checkpoints of payloads', () => {
  it('are where Dynamic Kubelet Configuration had them', async () => {
    const { disk, store, ready } = storeWith(A);
    await ready;
    assert.equal(disk.tree()['/state/checkpoints/uid-a/41/kubelet'], 'a');
    assert.deepEqual(await store.payloads.read(A), { payload: 'a' });
  });

  it('come back as they were written, whatever is in them', async () => {
    const { store } = storeWith();
    const payload = '{"zürich":[1,2.5,null,""],"text":"\\u2028\\n\\t"}\n';
    const config: Config = { ...A, source: { ...A.source, sha256: payloadSha256(payload) } };
    await store.payloads.write(config, payload);
    assert.deepEqual(await store.payloads.read(config), { payload });
  });

  it('count only while their bytes are those that were assigned', async () => {
    const { disk, store, ready } = storeWith(A);
    await ready;
    for (const content of ['b', '', 'a\n', { directory: true } as const, 'x'.repeat(1_000_001)]) {
      disk.plant('/state/checkpoints/uid-a/41/kubelet', content);
      const read = await store.payloads.read(A);
      assert.ok('lost' in read && /checkpoint/.test(read.lost));
    }
    await disk.remove('/state/checkpoints');
    const read = await store.payloads.read(A);
    assert.ok('lost' in read && /is gone/.test(read.lost));
  });

  it('are written over whatever is in their way', async () => {
    const { disk, store } = storeWith();
    disk.plant('/state', { directory: true });
    disk.plant('/state/checkpoints', 'a file');
    await store.payloads.write(A, 'a');
    disk.plant('/state/checkpoints/uid-a/41', 'a file');
    await store.payloads.write(A, 'a');
    assert.deepEqual(await store.payloads.read(A), { payload: 'a' });
  });

  it('of two keys of one ConfigMap stand side by side', async () => {
    const { disk, store } = storeWith();
    disk.plant('/state', { directory: true });
    const other: Config = { ...B, source: { ...B.source, uid: A.source.uid, key: 'kubelet.next' } };
    await store.payloads.write(A, 'a');
    await store.payloads.write(other, 'b');
    assert.deepEqual(await store.payloads.read(A), { payload: 'a' });
    assert.deepEqual(await store.payloads.read(other), { payload: 'b' });
  });

  const keeps: readonly (readonly [
    string,
    Parameters<ReturnType<typeof createCheckpointStore>['collectGarbage']>[0],
    readonly string[],
  ])[] = [
    ['of a trial: the one tried and the last known good', onTrial(judging()), ['a', 'b']],
    [
      'of a trial that is superseded by a refused config: all three',
      { ...onTrial(judging()), assigned: C },
      ['a', 'b', 'c'],
    ],
    [
      'of a fallback: where it goes, and the rejected one that is still assigned',
      fallingBack(A, INSTALLING),
      ['a', 'b'],
    ],
    ['of a node that runs local: none', idle(null), []],
  ];
  for (const [title, state, kept] of keeps) {
    it(`are kept, ${title}`, async () => {
      const { disk, store, ready } = storeWith(A, B, C);
      await ready;
      disk.plant('/state/checkpoints/stray', 'x');
      disk.plant('/state/checkpoints/uid-a/41/kubelet.kubelet-gitops-tmp-00c0ffee', 'half');
      await store.collectGarbage(state);
      const files = Object.entries(disk.tree()).filter(
        ([path, text]) => path.startsWith('/state/checkpoints/') && text !== '(directory)',
      );
      assert.deepEqual(files.map(([, text]) => text).sort(), kept);
    });
  }

  it('are kept where one was fetched for what comes next', async () => {
    const { disk, store, ready } = storeWith(A, B, C);
    await ready;
    await store.collectGarbage(idle(A), C);
    assert.deepEqual(await disk.list('/state/checkpoints'), ['uid-a', 'uid-c']);
  });

  it('leave no half-written reference behind either', async () => {
    const { disk, store } = storeWith();
    await store.save(idle(A));
    disk.plant('/state/meta/trial.kubelet-gitops-tmp-00c0ffee', 'half');
    await store.collectGarbage(idle(A));
    assert.deepEqual(await disk.list('/state/meta'), ['assigned', 'last-known-good']);
  });

  it('leave alone what a link in their place leads to', async (t) => {
    const directory = temporaryDirectory(t);
    const [state, elsewhere] = [join(directory, 'state'), join(directory, 'elsewhere')];
    for (const path of [state, elsewhere]) await mkdir(path);
    await writeFile(join(elsewhere, 'kept'), 'somebody else’s');
    await symlink(elsewhere, join(state, 'checkpoints'));
    await createCheckpointStore(createNodeDisk(), state, 'node-a').collectGarbage(idle(A));
    assert.deepEqual(await readdir(elsewhere), ['kept']);
  });
});
