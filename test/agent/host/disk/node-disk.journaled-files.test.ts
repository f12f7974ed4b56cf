import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fc, forAllAsyncOf } from '../../../support/property.ts';
import type { Disk } from '#agent/ports/disk.ts';
import { type FileCalls, systemCalls } from '#agent/host/disk/file-calls.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createJournaledFiles, type JournaledFiles, treeOf } from '../../../support/agent/journaled-files.ts';
import { createCrashInjector } from '../../../support/agent/crash-injection.ts';
import { afterPowerLoss } from '../../../support/agent/power-loss.ts';

type Operation =
  | { readonly do: 'replace'; readonly path: string; readonly text: string; readonly mode: number }
  | { readonly do: 'writeOver'; readonly path: string; readonly text: string }
  | { readonly do: 'makeDirectory' | 'remove' | 'read' | 'stat' | 'list'; readonly path: string };

const paths = fc
  .array(fc.constantFrom('a', 'b', 'a.kubelet-gitops-tmp-1'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'));
const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('replace' as const),
      path: paths,
      text: fc.constantFrom('', 'one', 'another'),
      mode: fc.constantFrom(0o600, 0o644),
    }),
    fc.record({ do: fc.constant('writeOver' as const), path: paths, text: fc.constantFrom('', 'o', 'another') }),
    fc.record({
      do: fc.constantFrom(
        'makeDirectory' as const,
        'remove' as const,
        'read' as const,
        'stat' as const,
        'list' as const,
      ),
      path: paths,
    }),
  ),
  { maxLength: 12 },
);

/** Every call that changes something, in order, and how it ended. */
function recorded(calls: FileCalls, log: string[]): FileCalls {
  const name = (path: string): string => (path.split('/').at(-1) ?? '').replace(/(-tmp-)[0-9a-f]{8}$/, '$1');
  const told =
    <A extends readonly [string, ...unknown[]], R>(call: string, work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        const result = await work(...args);
        log.push(`${call} ${name(args[0])}`);
        return result;
      } catch (error) {
        log.push(`${call} ${name(args[0])}: ${codeOf(error)}`);
        throw error;
      }
    };
  return {
    ...calls,
    create: told('create', async (path, mode: number) => {
      const file = await calls.create(path, mode);
      return {
        ...file,
        write: (bytes) => told('write', () => file.write(bytes))(path),
        chown: (uid, gid) => told('chown', () => file.chown(uid, gid))(path),
        chmod: (bits) => told('chmod', () => file.chmod(bits))(path),
        sync: () => told('sync', () => file.sync())(path),
      };
    }),
    writeOver: told('write', calls.writeOver),
    rename: told('rename', calls.rename),
    unlink: told('unlink', calls.unlink),
    rmdir: told('rmdir', calls.rmdir),
    mkdir: told('mkdir', calls.mkdir),
    syncDirectory: told('sync-directory', calls.syncDirectory),
  };
}

async function perform(disk: Disk, root: string, operation: Operation): Promise<unknown> {
  const path = join(root, operation.path);
  try {
    switch (operation.do) {
      case 'replace':
        return await disk.replace(path, Buffer.from(operation.text), { mode: operation.mode });
      case 'writeOver':
        return await disk.writeOver(path, Buffer.from(operation.text));
      case 'makeDirectory':
        return await disk.makeDirectory(path, 0o700);
      case 'remove':
        return await disk.remove(path);
      case 'read':
        return (await disk.read(path))?.toString('utf8') ?? null;
      case 'stat': {
        const stat = await disk.stat(path);
        return stat === null ? null : [stat.kind, stat.mode, stat.kind === 'file' ? stat.size : 'any'];
      }
      case 'list':
        return await disk.list(path);
    }
  } catch (error) {
    return `${codeOf(error)} because of ${codeOf((error as Error).cause)}`;
  }
}

describe('the file system in memory', () => {
  const roots: string[] = [];
  after(async () => {
    for (const root of roots) await rm(root, { recursive: true, force: true });
  });

  it('does what the real one does, call by call and error by error', async () => {
    let performed = 0;
    await forAllAsyncOf(150, operations, async (history) => {
      const root = await mkdtemp(join(tmpdir(), 'files-'));
      roots.push(root);
      const [realLog, modelLog]: [string[], string[]] = [[], []];
      const files = createJournaledFiles();
      files.plant('/root', { directory: true });
      const real = createNodeDisk(recorded(systemCalls, realLog));
      const model = createNodeDisk(recorded(files.calls(), modelLog));
      for (const operation of history) {
        const [expected, actual] = [await perform(real, root, operation), await perform(model, '/root', operation)];
        assert.deepEqual(actual, expected, JSON.stringify(operation));
        performed += 1;
      }
      assert.deepEqual(
        modelLog,
        realLog.map((line) => line.replace(root.split('/').at(-1) ?? '', 'root')),
      );
    });
    assert.ok(performed > 300);
  });

  it('gives a process that is killed no answer, to that call and to every later one', async () => {
    const files = treeWith('/file', 'old');
    const disk = createNodeDisk(files.calls(createCrashInjector(({ call }) => (call === 'rename' ? 'death' : 'none'))));
    const ended: string[] = [];
    void disk.replace('/file', Buffer.from('new'), { mode: 0o600 }).finally(() => ended.push('replace'));
    await new Promise((resolve) => setImmediate(resolve));
    void disk.read('/file').finally(() => ended.push('read'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(ended, []);
    assert.equal(files.tree()['/file'], 'old');
  });

  it('tells a process that there is no space, and goes on', async () => {
    const files = treeWith('/file', 'old');
    const disk = createNodeDisk(
      files.calls(createCrashInjector(({ call }) => (call === 'write' ? 'torn-full' : 'none'))),
    );
    await assert.rejects(disk.replace('/file', Buffer.from('new'), { mode: 0o600 }), /the disk is full/);
    assert.deepEqual(Object.keys(files.tree()), ['/', '/file']);
  });
});

describe('a power failure', () => {
  const outcomes = (files: JournaledFiles): unknown[] => afterPowerLoss(files.freeze()).map(treeOf);

  it('leaves nothing in doubt once everything is synced', async () => {
    const files = createJournaledFiles();
    const disk = createNodeDisk(files.calls());
    await disk.makeDirectory('/a/b', 0o700);
    await disk.replace('/a/b/file', Buffer.from('new'), { mode: 0o644 });
    await disk.remove('/a/b/file');
    await disk.replace('/a/file', Buffer.from('new'), { mode: 0o644 });
    assert.deepEqual(outcomes(files), [files.tree()]);
  });

  it('may leave a file that was renamed before it was synced empty, torn, whole, or not there', async () => {
    const files = treeWith('/file', 'old');
    const calls = files.calls();
    const file = await calls.create('/tmp', 0o600);
    await file.write(Buffer.from('again'));
    await calls.rename('/tmp', '/file');
    const texts = afterPowerLoss(files.freeze()).map(treeOf);
    assert.deepEqual(new Set(texts.map((tree) => tree['/file'])), new Set(['', 'ag', 'again', 'old']));
  });

  it('may undo a rename that its directory was not synced after, but leaves the new content whole', async () => {
    const files = treeWith('/file', 'old');
    const strike = createCrashInjector(({ call }) => (call === 'sync-directory' ? 'death' : 'none'));
    void createNodeDisk(files.calls(strike)).replace('/file', Buffer.from('new'), { mode: 0o600 });
    await new Promise((resolve) => setImmediate(resolve));
    const texts = afterPowerLoss(files.freeze()).map((frozen) => treeOf(frozen)['/file']);
    assert.deepEqual(new Set(texts), new Set(['new', 'old']));
  });

  it('may leave a removed file there', async () => {
    const files = treeWith('/file', 'old');
    await files.calls().unlink('/file');
    assert.deepEqual(outcomes(files), [{ '/': '(directory)', '/file': 'old' }, { '/': '(directory)' }]);
  });

  it('takes what is in a new directory that did not arrive', async () => {
    const files = createJournaledFiles();
    const calls = files.calls();
    await calls.mkdir('/new', 0o700);
    const file = await calls.create('/new/file', 0o600);
    await file.sync();
    await calls.syncDirectory('/new');
    assert.deepEqual(outcomes(files), [
      { '/': '(directory)' },
      { '/': '(directory)', '/new': '(directory)', '/new/file': '' },
    ]);
  });
});

function treeWith(path: string, text: string): JournaledFiles {
  const files = createJournaledFiles();
  files.plant(path, text);
  return files;
}
