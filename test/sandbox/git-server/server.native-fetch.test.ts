import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { sampleOf } from '../../support/sample.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from './support/native-git.ts';
import { manyFiles, started } from './support/started.ts';

/** For `git fast-import`: commits on `main` that change nothing. */
function emptyCommits(count: number): string {
  const by = 'Ada <ada@example.com> 1772366400 +0000';
  const commits = Array.from({ length: count }, (_, index) => {
    const message = `Local ${index}`;
    const from = index === 0 ? 'from refs/heads/main^0\n' : '';
    return `commit refs/heads/main\ncommitter ${by}\ndata ${message.length}\n${message}\n${from}`;
  });
  return `${commits.join('\n')}\n`;
}

/** Clients speak version 2 by themselves; the older ones, which differ in one line, are what proxies and other libraries still use. */
for (const version of sampleOf(['0', '1', '2'], 2)) {
  describeOrSkip(`the real git fetches with protocol version ${version}`, { skip: WITHOUT_GIT }, () => {
    const configured = ['-c', `protocol.version=${version}`];

    it('clones the whole history, and finds nothing to complain of in it', async (t) => {
      const server = await started(t);
      await server.commit({ files: { 'base/common.yaml': 'maxPods: 110\n', 'README.md': 'hello\n' }, message: 'One' });
      const tip = await server.commit({ files: { 'base/common.yaml': 'maxPods: 120\n' }, message: 'Two' });
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', server.url, '.');
      assert.equal(await git('rev-parse', 'HEAD'), tip);
      assert.equal(await git('symbolic-ref', 'HEAD'), 'refs/heads/main');
      assert.equal(await git('log', '--format=%s'), 'Two\nOne');
      assert.equal(await readFile(join(git.directory, 'base/common.yaml'), 'utf8'), 'maxPods: 120\n');
      assert.equal((await git.attempt('fsck', '--full', '--strict')).err, '');
    });

    it('clones one commit deep, fetches on from there, deepens, and in the end has everything', async (t) => {
      const server = await started(t);
      for (let index = 1; index <= 6; index += 1) {
        await server.commit({ files: { [`f${index}`]: `${index}\n` }, message: `Commit ${index}` });
      }
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', '--depth', '1', server.url, '.');
      assert.equal(await git('rev-list', '--count', 'HEAD'), '1');

      const tip = await server.commit({ files: { f1: 'changed\n' }, message: 'Commit 7' });
      await git(...configured, 'fetch');
      assert.equal(await git('rev-parse', 'origin/main'), tip);
      assert.equal(await git('rev-list', '--count', 'origin/main'), '2');

      await git(...configured, 'fetch', '--depth', '3');
      assert.equal(await git('rev-list', '--count', 'origin/main'), '3');
      await git(...configured, 'fetch', '--deepen', '2');
      assert.equal(await git('rev-list', '--count', 'origin/main'), '5');
      await git(...configured, 'fetch', '--unshallow');
      assert.equal(await git('rev-list', '--count', 'origin/main'), '7');
      assert.equal((await git.attempt('fsck', '--full')).err, '');
    });

    it('fetches new commits with nothing but their new objects', async (t) => {
      const server = await started(t);
      await server.commit({ files: manyFiles(200), message: 'Many' });
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', server.url, '.');
      const before = await git('count-objects', '-v');
      await server.commit({ files: { 'pools/p3/file-3.yaml': 'maxPods: 9\n' }, message: 'One file' });
      await git(...configured, '-c', 'fetch.unpackLimit=1000', 'fetch');
      assert.match(before, /^count: 0$/m);
      // The commit, three trees (root, pools, p3) and the blob.
      assert.match(await git('count-objects', '-v'), /^count: 5$/m);
      assert.equal((await git.attempt(...configured, 'fetch')).err, '');
    });

    it('follows a rewritten branch, also where histories have nothing in common', async (t) => {
      const server = await started(t);
      const first = await server.commit({ files: { a: '1\n' }, message: 'One' });
      await server.commit({ files: { a: '2\n' }, message: 'Two' });
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', server.url, '.');
      await server.setRef('refs/heads/main', first);
      const third = await server.commit({ files: { a: '3\n' }, message: 'Three' });
      await git(...configured, 'fetch');
      assert.equal(await git('rev-parse', 'origin/main'), third);

      await server.setRef('refs/heads/main', null);
      const other = await server.commit({ files: { b: '1\n' }, message: 'Another root' });
      await git(...configured, 'fetch');
      assert.equal(await git('rev-parse', 'origin/main'), other);
      assert.equal((await git.attempt('fsck', '--full')).code, 0);
    });

    it('negotiates where both sides have commits of their own', async (t) => {
      const server = await started(t);
      await server.commit({ files: { a: '1\n' }, message: 'Shared' });
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', server.url, '.');
      assert.equal((await git.feed(emptyCommits(40), 'fast-import', '--quiet')).code, 0);
      assert.equal(await git('rev-list', '--count', 'HEAD'), '41');
      const tip = await server.commit({ files: { b: '1\n' }, message: 'Remote' });
      await git(...configured, 'fetch');
      assert.equal(await git('rev-parse', 'origin/main'), tip);
      assert.equal(await git('rev-list', '--count', 'origin/main'), '2');
    });

    it('fetches a commit by its name, and is told of one that is not there', async (t) => {
      const server = await started(t);
      const first = await server.commit({ files: { a: '1\n' }, message: 'One' });
      await server.commit({ files: { a: '2\n' }, message: 'Two' });
      const git = nativeGit(await temporaryDirectory(t));
      await git('init');
      await git(...configured, 'fetch', '--depth', '1', server.url, first);
      assert.equal(await git('rev-parse', 'FETCH_HEAD'), first);
      const missing = await git.attempt(...configured, 'fetch', server.url, '1'.repeat(40));
      assert.match(missing.err, /not our ref 1{40}/);
    });

    it('lists refs with what annotated tags come down to, and clones with the tags', async (t) => {
      const server = await started(t);
      const tip = await server.commit({ files: { a: '1\n' }, message: 'One' });
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, 'clone', server.url, '.');
      await git('tag', '-a', 'v1', '-m', 'First');
      await git(...configured, 'push', 'origin', 'v1');
      const tag = await git('rev-parse', 'v1');
      const listed = await git(...configured, 'ls-remote', server.url);
      assert.equal(listed, `${tip}\tHEAD\n${tip}\trefs/heads/main\n${tag}\trefs/tags/v1\n${tip}\trefs/tags/v1^{}`);

      const other = nativeGit(await temporaryDirectory(t));
      await other(...configured, 'clone', '--depth', '1', '--branch', 'v1', server.url, '.');
      assert.equal(await other('rev-parse', 'v1'), tag);
      assert.equal((await other.attempt('fsck', '--full')).code, 0);
    });

    it('clones an empty repository and pushes the first commit to it', async (t) => {
      const server = await started(t);
      const git = nativeGit(await temporaryDirectory(t));
      await git(...configured, '-c', 'init.defaultBranch=main', 'clone', server.url, '.');
      await git('commit', '--allow-empty', '-m', 'First');
      await git(...configured, 'push', 'origin', 'main');
      assert.equal(server.refs().get('refs/heads/main'), await git('rev-parse', 'HEAD'));
    });
  });
}

describeOrSkip('a repository of 1,000 files', { skip: WITHOUT_GIT }, () => {
  it('is cloned and shallow-cloned whole', async (t) => {
    const server = await started(t);
    await server.commit({ files: manyFiles(1000), message: 'Many' });
    const git = nativeGit(await temporaryDirectory(t));
    await git('clone', server.url, 'full');
    await git('clone', '--depth', '1', server.url, 'shallow');
    for (const clone of ['full', 'shallow']) {
      const tracked = await nativeGit(join(git.directory, clone))('ls-files');
      assert.equal(tracked.split('\n').length, 1000);
      assert.equal(await nativeGit(join(git.directory, clone))('status', '--porcelain'), '');
    }
  });
});
