import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDirectories, readFile as readOwnFile } from '#agent/host/state-files.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import type { Config } from '#agent/decide/state.ts';
import { A, AT, B, idle } from '../support/agent/states.ts';
import { type Scenario, see } from './scenario.ts';

const disk = createNodeDisk();
const OWNER = { mode: 0o600 };

/** A directory of its own on the real disk. */
const inDirectory =
  (look: (directory: string) => Promise<void>): Scenario['see'] =>
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'dkc-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    await look(directory);
  };

async function writes(directory: string, from: readonly string[], to: string): Promise<void> {
  const path = join(directory, 'file');
  for (const text of from) await writeFile(path, text);
  await disk.replace(path, Buffer.from(to), OWNER);
  assert.equal(await readFile(path, 'utf8'), to);
  assert.deepEqual(await disk.list(directory), ['file']);
}

async function makes(path: string): Promise<void> {
  await disk.makeDirectory(path, 0o700);
  await disk.makeDirectory(path, 0o700);
  assert.equal((await disk.stat(path))?.kind, 'directory');
}

const keyed = (config: Config, key: string): Config => ({ ...config, source: { ...A.source, ...config.source, key } });

export const scenarios = see('files and directories', [
  {
    dkc: 68,
    title: 'a file that is there is seen',
    see: inDirectory(async (directory) => {
      await writeFile(join(directory, 'file'), 'x');
      assert.equal((await disk.stat(join(directory, 'file')))?.kind, 'file');
      assert.equal((await readOwnFile(disk, join(directory, 'file'), 10))?.toString(), 'x');
    }),
  },
  {
    dkc: 69,
    title: 'one that is not there is null, and no error',
    see: inDirectory(async (directory) => {
      assert.equal(await disk.stat(join(directory, 'file')), null);
      assert.equal(await readOwnFile(disk, join(directory, 'file'), 10), null);
    }),
  },
  {
    dkc: 70,
    title: 'a directory in its place is an error, and not read',
    see: inDirectory(async (directory) => {
      await mkdir(join(directory, 'file'));
      const reading = readOwnFile(disk, join(directory, 'file'), 10);
      await assert.rejects(reading, {
        code: 'CHECKPOINT_DAMAGED',
        message: `${join(directory, 'file')} is not a file`,
      });
    }),
  },
  {
    dkc: 71,
    title: 'a file that says it already is not written again',
    see: inDirectory(async (directory) => {
      const writer = createCheckpointStore(disk, directory, 'node-a');
      await writer.save(idle(A));
      const path = join(directory, 'meta', 'assigned');
      const store = createCheckpointStore(disk, directory, 'node-a');
      await store.load(AT);
      // Each write puts another file in its place.
      const { ino, mtimeNs } = await stat(path, { bigint: true });
      await store.save(idle(A));
      const after = await stat(path, { bigint: true });
      assert.deepEqual([after.ino, after.mtimeNs], [ino, mtimeNs]);
    }),
  },
  {
    dkc: 72,
    title: 'one that is missing is made',
    see: inDirectory(async (directory) => {
      const store = createCheckpointStore(disk, directory, 'node-a');
      await store.load(AT);
      await store.save(idle(A));
      assert.match(await readFile(join(directory, 'meta', 'assigned'), 'utf8'), /"name": "general-aaaaaaaaaa"/);
    }),
  },
  {
    dkc: 73,
    title: 'and so are the directories above it',
    see: inDirectory(async (directory) => {
      const deep = join(directory, 'var', 'lib', 'state');
      await createCheckpointStore(disk, deep, 'node-a').payloads.write(A, 'a');
      assert.equal(await readFile(join(deep, 'checkpoints/uid-a/41/kubelet'), 'utf8'), 'a');
    }),
  },
  { dkc: 74, title: 'a file takes the place of another', see: inDirectory((at) => writes(at, ['old'], 'new')) },
  { dkc: 75, title: 'or of none', see: inDirectory((at) => writes(at, [], 'new')) },
  {
    dkc: 76,
    title: 'but not where there is no directory for it, and the system says why',
    see: inDirectory(async (directory) => {
      const path = join(directory, 'none', 'file');
      await assert.rejects(disk.replace(path, Buffer.from('x'), OWNER), (error: Error) => {
        assert.ok(error.message.startsWith(`cannot write ${path}`));
        assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT');
        return true;
      });
    }),
  },
  {
    dkc: 77,
    title: 'a directory that is there is seen',
    see: inDirectory(async (directory) => assert.equal((await disk.stat(directory))?.kind, 'directory')),
  },
  {
    dkc: 78,
    title: 'one that is not there is empty, and no error',
    see: inDirectory(async (directory) => assert.deepEqual(await disk.list(join(directory, 'none')), [])),
  },
  {
    dkc: 79,
    title: 'a file in the place of one of ours goes out of the way',
    see: inDirectory(async (directory) => {
      await writeFile(join(directory, 'meta'), 'a file');
      await ensureDirectories(disk, directory, join(directory, 'meta'));
      assert.equal((await disk.stat(join(directory, 'meta')))?.kind, 'directory');
    }),
  },
  { dkc: 80, title: 'a directory may be there already', see: inDirectory((directory) => makes(directory)) },
  { dkc: 81, title: 'or be missing', see: inDirectory((directory) => makes(join(directory, 'one'))) },
  { dkc: 82, title: 'with all that is above it', see: inDirectory((directory) => makes(join(directory, 'a/b/c/d'))) },
  {
    dkc: 83,
    title: 'a key with a slash is refused in what is read from the disk as well, and leads nowhere',
    see: inDirectory(async (directory) => {
      await createCheckpointStore(disk, directory, 'node-a').save(idle(A));
      const path = join(directory, 'meta', 'last-known-good');
      const text = (await readFile(path, 'utf8')).replace(
        '"kubeletConfigKey": "kubelet"',
        '"kubeletConfigKey": "foo/bar"',
      );
      await writeFile(path, text);
      const { state, problems } = await createCheckpointStore(disk, directory, 'node-a').load(AT);
      assert.match(problems.join(), /key is "foo\/bar"/);
      assert.deepEqual([state.lastKnownGood, state.promotedAt], [A, null]);
    }),
  },
  {
    dkc: 84,
    title: 'an empty directory in the place of a checkpoint is none, and gets one',
    see: inDirectory(async (directory) => {
      await mkdir(join(directory, 'checkpoints/uid-a/41'), { recursive: true });
      const { payloads } = createCheckpointStore(disk, directory, 'node-a');
      assert.ok('lost' in (await payloads.read(A)));
      await payloads.write(A, 'a');
      assert.deepEqual(await payloads.read(A), { payload: 'a' });
    }),
  },
  {
    dkc: 85,
    title: 'two keys of one ConfigMap are two files, and one of them goes without the other',
    see: inDirectory(async (directory) => {
      const { payloads, collectGarbage, save } = createCheckpointStore(disk, directory, 'node-a');
      const [one, two] = [A, keyed({ ...B, source: { ...A.source, sha256: B.source.sha256 } }, 'next')];
      await payloads.write(one, 'a');
      await payloads.write(two, 'b');
      const files = async (): Promise<readonly string[]> => disk.list(join(directory, 'checkpoints/uid-a/41'));
      assert.deepEqual([await files(), await payloads.read(two)], [['kubelet', 'next'], { payload: 'b' }]);
      await save(idle(two));
      await collectGarbage(idle(two));
      assert.deepEqual([await files(), await payloads.read(two)], [['next'], { payload: 'b' }]);
    }),
  },
]);
