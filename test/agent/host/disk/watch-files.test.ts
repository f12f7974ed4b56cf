import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { until } from '../../../support/until.ts';
import { createWatchedDirectory, type WatchedDirectory } from './support/watched-directory.ts';

// They wait for most of their time, each in a directory of its own.
describe('the managed files, watched on a real disk', { concurrency: 6 }, () => {
  const CHANGES: readonly (readonly [string, (at: WatchedDirectory) => Promise<unknown>])[] = [
    ['is written in place', ({ file }) => writeFile(file, 'other')],
    ['is deleted', ({ file }) => rm(file)],
    ['is moved away', ({ root, file }) => rename(file, join(root, 'elsewhere'))],
    ['gets another mode', ({ file }) => chmod(file, 0o600)],
    [
      'is replaced by a rename',
      async ({ root, file }) => {
        await writeFile(join(root, 'new'), 'other');
        await rename(join(root, 'new'), file);
      },
    ],
    ['is replaced as we do it', ({ file }) => createNodeDisk().replace(file, Buffer.from('ours'), { mode: 0o644 })],
  ];
  for (const [what, change] of CHANGES) {
    it(`a file that ${what} is heard of within a second`, async () => {
      await using at = await createWatchedDirectory();
      const { watched, heard } = at;
      await watched();
      await change(at);
      await heard();
    });
  }

  const notRoot = process.getuid?.() === 0 ? false : 'only root may give files away';
  it('a file that gets another owner is heard of within a second', { skip: notRoot }, async () => {
    await using at = await createWatchedDirectory();
    const { file, watched, heard } = at;
    await watched();
    await chown(file, 1234, 1234);
    await heard();
  });

  it('a file that is deleted and made again is heard of both times', async () => {
    await using at = await createWatchedDirectory();
    const { file, settled, watched, heard } = at;
    await watched();
    await rm(file);
    await heard();
    await settled();
    await writeFile(file, 'again');
    await heard();
  });

  it('other files are nobody’s business', async () => {
    await using at = await createWatchedDirectory();
    const { directory, file, calls, settled, watched, heard } = at;
    await watched();
    await writeFile(join(directory, 'cpu_manager_state'), '{}');
    await chmod(join(directory, 'cpu_manager_state'), 0o600);
    await writeFile(file, 'the one that counts comes after them');
    await heard();
    await settled();
    await writeFile(join(directory, 'cpu_manager_state'), '{"policyName":"none"}');
    await systemClock.sleep(100);
    assert.equal(calls(), 0);
  });

  it('idle, nothing is waited for and nothing is told', async () => {
    await using at = await createWatchedDirectory();
    const { calls, waits, watched } = at;
    await watched();
    await systemClock.sleep(300);
    assert.equal(waits.size, 0);
    assert.equal(calls(), 0);
  });

  it('a file that is emptied before it is filled is heard of when it is whole', async () => {
    await using at = await createWatchedDirectory();
    const { file, calls, waits, hold, watched, heard } = at;
    await watched();
    const release = hold();
    await truncate(file, 0);
    await until('the time that a writer has', () => waits.size > 0);
    assert.equal(calls(), 0);
    await writeFile(file, 'whole');
    release();
    await heard();
  });

  it('a storm is told of now and then, and once more when it is over', async () => {
    await using at = await createWatchedDirectory();
    const { file, calls, waits, watched } = at;
    await watched();
    const began = systemClock.monotonic();
    for (let turn = 0; turn < 300; turn += 1) await writeFile(file, `${turn}`);
    await until('the end of it', () => waits.size === 0);
    const most = 2 + (systemClock.monotonic() - began) / 250;
    assert.ok(calls() >= 1 && calls() < most, `${calls()} calls, ${most} at most`);
  });

  it('a directory that is replaced is watched in its new place, and its coming counts as a change', async () => {
    await using at = await createWatchedDirectory();
    const { root, directory, file, calls, settled, watched, heard } = at;
    await watched();
    await rename(directory, join(root, 'old'));
    await heard();
    await settled().catch(() => undefined);
    await mkdir(directory);
    await until('word of the new one', () => calls() > 0);
    await settled();
    await writeFile(file, 'in the new one');
    await heard();
    await settled();
    await writeFile(join(root, 'old', 'config.yaml'), 'in the old one');
    await systemClock.sleep(100);
    assert.equal(calls(), 0);
  });

  it('a directory that is not there yet is watched within a second of its coming, and nothing is waited for', async () => {
    await using at = await createWatchedDirectory();
    const { root, directory, file, calls, waits, watch, settled, heard } = at;
    await rm(root, { recursive: true });
    watch();
    await systemClock.sleep(300);
    assert.equal(waits.size, 0);
    await mkdir(root);
    await systemClock.sleep(300);
    assert.equal(calls(), 0);
    await mkdir(directory);
    await heard();
    await settled();
    await writeFile(file, 'new');
    await heard();
  });

  it('a place that cannot be watched is tried again ever more seldom, and harms nobody', async () => {
    await using at = await createWatchedDirectory();
    const { directory, calls, waited, watch } = at;
    await rm(directory, { recursive: true });
    await symlink('kubelet', directory);
    watch();
    await until('a longer pause', () => waited.has(800), { withinMs: 30_000 });
    assert.deepEqual([...waited], [100, 200, 400, 800]);
    await rm(directory);
    await mkdir(directory);
    await until('word of it', () => calls() > 0);
  });

  it('a missing place that comes as something nobody can look into ends no process, and is heard of when it is well', async () => {
    await using at = await createWatchedDirectory();
    const { directory, calls, waited, watch } = at;
    await rm(directory, { recursive: true });
    watch();
    await systemClock.sleep(100);
    await symlink('kubelet', directory);
    await until('a pause', () => waited.has(100));
    await rm(directory);
    await mkdir(directory);
    await until('word of it', () => calls() > 0);
  });

  it('a file in the directory’s place does no harm', async () => {
    await using at = await createWatchedDirectory();
    const { directory, file, calls, watch } = at;
    await rm(directory, { recursive: true });
    await writeFile(directory, 'no directory');
    watch();
    await systemClock.sleep(100);
    await rm(directory);
    await mkdir(directory);
    await until('word of it', async () => (await writeFile(file, 'x'), calls() > 0), { everyMs: 50 });
  });

  it('stopped, it says nothing any more, and can be stopped twice', async () => {
    await using at = await createWatchedDirectory();
    const { directory, file, calls, waits, watched, stop } = at;
    await watched();
    stop();
    stop();
    await writeFile(file, 'other');
    await rm(directory, { recursive: true });
    await systemClock.sleep(100);
    assert.equal(calls(), 0);
    assert.equal(waits.size, 0);
  });
});

/** More events than the kernel keeps, before this process hears of the first. */
function fillQueue(directory: string): void {
  const events = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) + 100;
  const others = ['cpu_manager_state', 'memory_manager_state'].map((name) => join(directory, name));
  for (const other of others) writeFileSync(other, '{}');
  // By turns: the kernel makes one of two events that are the same.
  for (let event = 0; event < events; event += 1) chmodSync(others[event % 2] ?? '', event % 4 < 2 ? 0o600 : 0o644);
}

// Alone: all watches of a process have one queue.
describe('a change that the kernel has no room to tell of', () => {
  it('is noticed all the same', async () => {
    await using at = await createWatchedDirectory();
    const { directory, file, watched, heard } = at;
    await watched();
    fillQueue(directory);
    writeFileSync(file, 'lost');
    await heard();
  });

  it('is noticed where it is another directory in the same place', async () => {
    await using at = await createWatchedDirectory();
    const { root, directory, file, watched, settled, heard } = at;
    await watched();
    fillQueue(directory);
    renameSync(directory, join(root, 'old'));
    mkdirSync(directory);
    await heard();
    await settled();
    writeFileSync(file, 'in the new one');
    await heard();
  });

  it('is noticed where it is the directory that was waited for', async () => {
    await using at = await createWatchedDirectory();
    const { root, directory, file, watch, settled, heard } = at;
    await rm(directory, { recursive: true });
    watch();
    await systemClock.sleep(100);
    fillQueue(root);
    mkdirSync(directory);
    await heard();
    await settled();
    writeFileSync(file, 'new');
    await heard();
  });
});
