import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ensureDirectories, readFile } from '#agent/host/state-files.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';

describe('a file of the state directory', () => {
  const isDamage = (error: unknown): boolean => codeOf(error) === 'CHECKPOINT_DAMAGED';

  it('is read up to its most bytes', async () => {
    const disk = createMemoryDisk();
    disk.plant('/file', '1234');
    assert.equal((await readFile(disk, '/file', 4))?.toString(), '1234');
    await assert.rejects(readFile(disk, '/file', 3), isDamage);
    assert.equal(await readFile(disk, '/nothing', 4), null);
  });

  it('is damaged where it is a directory', async () => {
    const disk = createMemoryDisk();
    disk.plant('/state', { directory: true });
    await assert.rejects(readFile(disk, '/state', 4), isDamage);
  });
});

it('directories of the state are for root only; what is in their way goes, and what is in them stays', async () => {
  const disk = createMemoryDisk();
  disk.plant('/state', { directory: true });
  disk.plant('/state/kept', { directory: true });
  disk.plant('/state/kept/file', 'x');
  disk.plant('/state/taken', 'no directory');
  await ensureDirectories(disk, '/state/kept', '/state/taken', '/state/new');
  for (const path of ['/state/taken', '/state/new']) {
    const { kind, mode } = (await disk.stat(path)) ?? {};
    assert.deepEqual([kind, mode], ['directory', 0o700], path);
  }
  assert.equal((await disk.read('/state/kept/file'))?.toString(), 'x');
});
