import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { watchFiles } from '#agent/disk/watch-files.ts';
import { createNodeDisk } from '#agent/disk/node-disk.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../cluster/support/until.ts';

const SECOND = { withinMs: 1000, everyMs: 5 };

describe('the managed files, watched on a real disk', () => {
  let root = '';
  let directory = '';
  let file = '';
  let calls = 0;
  let stop: () => void = () => undefined;
  /** What the watch is waiting for by the clock at this moment, in milliseconds. */
  const waits = new Set<number>();
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      waits.add(ms);
      await systemClock.sleep(ms, signal);
      waits.delete(ms);
    },
  };
  const watching = (): void => {
    const hears = (name: string): boolean => name === 'config.yaml';
    stop = watchFiles([{ directory, hears }], () => (calls += 1), { clock, random: () => 0, log: silentLog });
  };
  /** The watch is set when a change is heard; what one change makes is over when nothing is waited for. */
  const settled = async (): Promise<void> => {
    await until('rest', async () => waits.size === 0, SECOND);
    calls = 0;
  };
  const watched = async (): Promise<void> => {
    watching();
    await until('the watch', async () => (await writeFile(file, 'x'), calls > 0), SECOND);
    await settled();
  };
  const heard = (): Promise<boolean> => until('word of it', async () => calls > 0, SECOND);

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-watch-'));
    directory = join(root, 'kubelet');
    file = join(directory, 'config.yaml');
    calls = 0;
    waits.clear();
    await mkdir(directory);
    await writeFile(file, 'kind: KubeletConfiguration\n');
  });
  afterEach(async () => {
    stop();
    await rm(root, { recursive: true, force: true });
  });

  const CHANGES: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['is written in place', () => writeFile(file, 'other')],
    ['is deleted', () => rm(file)],
    ['is moved away', () => rename(file, join(root, 'elsewhere'))],
    ['gets another mode', () => chmod(file, 0o600)],
    [
      'is replaced by a rename',
      async () => {
        await writeFile(join(root, 'new'), 'other');
        await rename(join(root, 'new'), file);
      },
    ],
    ['is replaced as we do it', () => createNodeDisk().replace(file, Buffer.from('ours'), { mode: 0o644 })],
  ];
  for (const [what, change] of CHANGES) {
    it(`a file that ${what} is heard of within a second`, async () => {
      await watched();
      await change();
      await heard();
    });
  }

  const notRoot = process.getuid?.() === 0 ? false : 'only root may give files away';
  it('a file that gets another owner is heard of within a second', { skip: notRoot }, async () => {
    await watched();
    await chown(file, 1234, 1234);
    await heard();
  });

  it('a file that is deleted and made again is heard of both times', async () => {
    await watched();
    await rm(file);
    await heard();
    await settled();
    await writeFile(file, 'again');
    await heard();
  });

  it('other files are nobody’s business', async () => {
    await watched();
    await writeFile(join(directory, 'cpu_manager_state'), '{}');
    await chmod(join(directory, 'cpu_manager_state'), 0o600);
    await writeFile(file, 'the one that counts comes after them');
    await heard();
    await settled();
    await writeFile(join(directory, 'cpu_manager_state'), '{"policyName":"none"}');
    await systemClock.sleep(100);
    assert.equal(calls, 0);
  });

  it('idle, nothing is waited for and nothing is told', async () => {
    await watched();
    await systemClock.sleep(300);
    assert.equal(waits.size, 0);
    assert.equal(calls, 0);
  });

  it('a file that is emptied before it is filled is heard of when it is whole', async () => {
    await watched();
    await truncate(file, 0);
    await systemClock.sleep(50);
    assert.equal(calls, 0);
    await writeFile(file, 'whole');
    await heard();
  });

  it('a storm is told of now and then, and once more when it is over', async () => {
    await watched();
    for (let turn = 0; turn < 300; turn += 1) await writeFile(file, `${turn}`);
    await until('the end of it', async () => waits.size === 0, SECOND);
    assert.ok(calls >= 1 && calls < 20, `${calls} calls`);
  });

  it('a directory that is replaced is watched in its new place, and its coming counts as a change', async () => {
    await watched();
    await rename(directory, join(root, 'old'));
    await heard();
    await settled().catch(() => undefined);
    await mkdir(directory);
    await until('word of the new one', async () => calls > 0, { withinMs: 3000, everyMs: 5 });
    await settled();
    await writeFile(file, 'in the new one');
    await heard();
    await settled();
    await writeFile(join(root, 'old', 'config.yaml'), 'in the old one');
    await systemClock.sleep(100);
    assert.equal(calls, 0);
  });

  it('a directory that is not there yet is watched within a second of its coming, and nothing is waited for', async () => {
    await rm(root, { recursive: true });
    watching();
    await systemClock.sleep(300);
    assert.equal(waits.size, 0);
    await mkdir(root);
    await systemClock.sleep(300);
    assert.equal(calls, 0);
    await mkdir(directory);
    await heard();
    await settled();
    await writeFile(file, 'new');
    await heard();
  });

  it('a place that cannot be watched is tried again ever more seldom, and harms nobody', async () => {
    await rm(directory, { recursive: true });
    await symlink('kubelet', directory);
    watching();
    await until('some tries', async () => waits.has(100) || waits.has(200) || waits.has(400), SECOND);
    await until('a longer pause', async () => waits.has(800), { withinMs: 3000, everyMs: 5 });
    await rm(directory);
    await mkdir(directory);
    await until('word of it', async () => calls > 0, { withinMs: 3000, everyMs: 5 });
  });

  it('a file in the directory’s place does no harm', async () => {
    await rm(directory, { recursive: true });
    await writeFile(directory, 'no directory');
    watching();
    await systemClock.sleep(100);
    await rm(directory);
    await mkdir(directory);
    await until('word of it', async () => (await writeFile(file, 'x'), calls > 0), { withinMs: 3000, everyMs: 50 });
  });

  it('stopped, it says nothing any more, and can be stopped twice', async () => {
    await watched();
    stop();
    stop();
    await writeFile(file, 'other');
    await rm(directory, { recursive: true });
    await systemClock.sleep(100);
    assert.equal(calls, 0);
    assert.equal(waits.size, 0);
  });
});
