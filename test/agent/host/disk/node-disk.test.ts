import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemCalls } from '#agent/host/disk/file-calls.ts';
import { createNodeDisk, isTemporary } from '#agent/host/disk/node-disk.ts';
import { systemError } from '../../../support/agent/system-error.ts';

const disk = createNodeDisk();
let root = '';
const at = (name: string): string => join(root, name);
const bytes = (text: string): Buffer => Buffer.from(text);

describe("the node's disk", () => {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'node-disk-'));
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  it('reads null where there is no file, and where a parent is no directory', async () => {
    await writeFile(at('file'), 'x');
    assert.equal(await disk.read(at('nothing')), null);
    assert.equal(await disk.read(at('file/below')), null);
    assert.equal(await disk.stat(at('file/below')), null);
    assert.deepEqual(await disk.list(at('nothing')), []);
  });

  it('replaces a file with content and mode, whatever the umask', async () => {
    await disk.replace(at('config'), bytes('old'), { mode: 0o600 });
    await disk.replace(at('config'), bytes('new'), { mode: 0o664 });
    assert.equal(await readFile(at('config'), 'utf8'), 'new');
    assert.equal((await stat(at('config'))).mode & 0o7777, 0o664);
    assert.deepEqual(await readdir(root), ['config']);
  });

  it('removes what an interrupted write of the same file left behind, and nothing of others', async () => {
    await writeFile(at('config.kubelet-gitops-tmp-0badcafe'), 'half');
    await writeFile(at('other.kubelet-gitops-tmp-0badcafe'), 'half');
    await disk.replace(at('config'), bytes('whole'), { mode: 0o600 });
    assert.deepEqual(await disk.list(root), ['config', 'other.kubelet-gitops-tmp-0badcafe']);
    assert.equal(isTemporary('other.kubelet-gitops-tmp-0badcafe'), true);
    assert.equal(isTemporary('90-kubelet-gitops.conf'), false);
  });

  for (const [code, advice] of [
    ['EBUSY', /mount the directory/],
    ['EPERM', /immutable/],
    ['EROFS', /read-only/],
  ] as const) {
    it(`says what to do where a file cannot be replaced for ${code}`, async () => {
      const rename = (_: string, to: string) => Promise.reject(systemError(code, 'rename', to));
      const refusing = createNodeDisk({ ...systemCalls, rename });
      await assert.rejects(refusing.replace(at('config'), bytes('new'), { mode: 0o600 }), advice);
      assert.deepEqual(await readdir(root), []);
    });
  }

  it('leaves the old content and no leftover where the write fails', async () => {
    await mkdir(at('config'));
    await writeFile(at('config/inside'), 'x');
    await assert.rejects(disk.replace(at('config'), bytes('new'), { mode: 0o600 }), { code: 'DISK_WRITE' });
    assert.deepEqual(await readdir(root), ['config']);
  });

  it('does not follow symbolic links, and replaces them by files', async () => {
    await writeFile(at('target'), 'theirs');
    await symlink(at('target'), at('link'));
    assert.equal((await disk.stat(at('link')))?.kind, 'other');
    await disk.replace(at('link'), bytes('ours'), { mode: 0o600 });
    assert.equal(await readFile(at('target'), 'utf8'), 'theirs');
    assert.equal((await disk.stat(at('link')))?.kind, 'file');
  });

  it('makes directories with their parents, twice without complaint', async () => {
    await disk.makeDirectory(at('a/b/c'), 0o700);
    await disk.makeDirectory(at('a/b/c'), 0o700);
    assert.deepEqual(await disk.stat(at('a/b')), { ...(await disk.stat(at('a/b/c'))) });
    assert.equal((await disk.stat(at('a/b/c')))?.mode, 0o700);
  });

  it('removes files and whole directories, gone already included', async () => {
    await disk.makeDirectory(at('a/b'), 0o700);
    await disk.replace(at('a/b/file'), bytes('x'), { mode: 0o600 });
    await disk.remove(at('a'));
    await disk.remove(at('a'));
    assert.deepEqual(await disk.list(root), []);
  });

  it('says what cannot be written and why', async () => {
    await assert.rejects(disk.replace(at('nowhere/config'), bytes('x'), { mode: 0o600 }), (error: Error) => {
      assert.match(error.message, /cannot write .*nowhere\/config/);
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT');
      return true;
    });
    await assert.rejects(disk.read(root), { code: 'DISK_READ' });
  });

  it('keeps the owner that a file is to have', async () => {
    const { uid, gid } = await stat(root);
    await disk.replace(at('config'), bytes('x'), { mode: 0o640, uid, gid });
    await chmod(at('config'), 0o600);
    assert.deepEqual(await disk.stat(at('config')), { kind: 'file', mode: 0o600, uid, gid, size: 1 });
  });
});
