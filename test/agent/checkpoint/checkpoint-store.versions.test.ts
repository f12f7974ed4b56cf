import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { fc, forAllAsyncOf } from '../../support/property.ts';
import { checkVersion } from '#agent/host/record-shape.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { INITIAL_STATE } from '#agent/decide/state.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import { A, AT, idle, judging, onTrial, rejecting } from '../../support/agent/states.ts';

describe('a file of ours', () => {
  it('of another version is not damaged, and not read', () => {
    for (const version of [1, 3, 1_000_000]) {
      assert.throws(() => checkVersion({ version }), { code: 'STATE_UNREADABLE' });
    }
  });

  it('of no version that there can be is damaged', () => {
    for (const version of [undefined, null, 0, -1, 1.5, '1', NaN, Infinity, [1], { version: 2 }]) {
      assert.throws(() => checkVersion({ version }), { code: 'CHECKPOINT_DAMAGED' });
    }
  });
});

type Rewrite = (text: string) => string;

const another: Rewrite = (text) => text.replace('"version": 2', '"version": 3');
const yaml: Rewrite = (text) => stringify(JSON.parse(text));
const FILES: readonly (readonly [path: string, how: string, rewrite: Rewrite])[] = [
  ['/state/meta/assigned', 'version', another],
  ['/state/meta/assigned', 'YAML', yaml],
  ['/state/meta/last-known-good', 'version', another],
  ['/state/meta/last-known-good', 'YAML', yaml],
  ['/state/meta/trial', 'version', another],
  ['/state/meta/rejected', 'version', another],
  ['/state/local/record', 'version', () => '{"version":3,"files":{}}\n'],
];

async function savedOnTrial(): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  const { rejected, error } = rejecting(A);
  await createCheckpointStore(disk, '/state', 'node-a').save({ ...onTrial(judging()), rejected, error });
  disk.plant('/state/local', { directory: true });
  disk.plant('/state/local/record', '{"version":2}\n');
  return disk;
}

describe('a state directory that an agent of another version wrote', () => {
  for (const [path, how, rewrite] of FILES) {
    it(`is told by the ${how} of ${path} alone, and nothing is written over it`, async () => {
      const disk = await savedOnTrial();
      const newer = rewrite(disk.tree()[path] ?? '');
      assert.match(newer, /version/);
      disk.plant(path, newer);
      const before = disk.tree();
      const store = createCheckpointStore(disk, '/state', 'node-a');
      const { state, problems, unreadable } = await store.load(AT);
      assert.deepEqual([state, problems], [INITIAL_STATE, []]);
      assert.ok(unreadable?.startsWith(`${path}: `));
      await assert.rejects(store.save(idle(A)), { code: 'STATE_UNREADABLE' });
      await assert.rejects(store.save(state), { code: 'STATE_UNREADABLE' });
      assert.deepEqual(disk.tree(), before);
    });
  }

  it('stays that, whatever else is damaged', async () => {
    const damage = fc.record({ file: fc.constantFrom(...FILES), text: fc.constantFrom('', '{', 'null', '\0\0') });
    await forAllAsyncOf(
      100,
      fc.constantFrom(...FILES),
      fc.array(damage, { maxLength: 3 }),
      async ([path, , rewrite], harm) => {
        const disk = await savedOnTrial();
        const newer = rewrite(disk.tree()[path] ?? '');
        for (const { file, text } of harm) disk.plant(file[0], text);
        disk.plant(path, newer);
        const { unreadable } = await createCheckpointStore(disk, '/state', 'node-a').load(AT);
        assert.ok(unreadable?.startsWith(path));
      },
    );
  });

  it('is read by the version that wrote it as if the other one had never been there', async () => {
    const disk = await savedOnTrial();
    const before = await createCheckpointStore(disk, '/state', 'node-a').load(AT);
    const record = disk.tree()['/state/local/record'] ?? '';
    disk.plant('/state/local/record', '{"version":3}');
    const other = createCheckpointStore(disk, '/state', 'node-a');
    await other.load(AT);
    await other.save(INITIAL_STATE).catch(() => undefined);
    disk.plant('/state/local/record', record);
    assert.deepEqual(await createCheckpointStore(disk, '/state', 'node-a').load(AT), before);
  });
});
