import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import type { GitServerOptions } from '#sandbox/git-server/server.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import type { NativeGit } from './support/native-git.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from './support/native-git.ts';
import { manyFiles, started } from './support/started.ts';

const NOTES = 'refs/notes/kubelet-gitops/demo';

async function cloned(t: TestContext, options: GitServerOptions = {}) {
  const server = await started(t, options);
  const first = await server.commit({ files: { 'pools/gpu/kubelet.yaml': 'maxPods: 50\n' }, message: 'First' });
  const git = nativeGit(await temporaryDirectory(t));
  await git('clone', server.url, '.');
  return { server, git, first };
}

async function commitLocally(git: NativeGit, path: string, content: string | Buffer, message: string): Promise<string> {
  await writeFile(join(git.directory, path), content);
  await git('add', path);
  await git('commit', '-m', message);
  return git('rev-parse', 'HEAD');
}

describeOrSkip('the real git pushes', { skip: WITHOUT_GIT }, () => {
  it('a commit and a new branch', async (t) => {
    const { server, git, first } = await cloned(t);
    const pushed = await commitLocally(git, 'pools/gpu/kubelet.yaml', 'maxPods: 60\n', 'Raise maxPods');
    await git('push', 'origin', 'main', 'HEAD:refs/heads/review');
    assert.deepEqual([...server.refs().values()], [pushed, pushed]);
    assert.equal(server.files().get('pools/gpu/kubelet.yaml'), 'maxPods: 60\n');
    assert.deepEqual(
      server.log(10).map(({ oid, message, author }) => ({ oid, message, author })),
      [
        { oid: pushed, message: 'Raise maxPods\n', author: { name: 'Ada', email: 'ada@example.com' } },
        { oid: first, message: 'First\n', author: { name: 'Sandbox', email: 'sandbox@example.invalid' } },
      ],
    );
  });

  it('and is told to fetch first when somebody else was faster', async (t) => {
    const { server, git } = await cloned(t);
    const theirs = await server.commit({ files: { other: 'x\n' }, message: 'Faster' });
    const ours = await commitLocally(git, 'mine', 'y\n', 'Slower');
    const refused = await git.attempt('push', 'origin', 'main');
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /rejected.*fetch first/);
    assert.equal(server.refs().get('refs/heads/main'), theirs);

    await git('pull', '--no-rebase', '--no-edit', 'origin', 'main');
    await git('push', 'origin', 'main');
    assert.deepEqual(
      new Set(server.log(3).map(({ oid }) => oid)),
      new Set([await git('rev-parse', 'HEAD'), ours, theirs]),
    );
  });

  it('a rewritten branch in vain, unless the server allows it', async (t) => {
    for (const allowForcePush of [false, true]) {
      const { server, git, first } = await cloned(t, { allowForcePush });
      await git('commit', '--amend', '-m', 'Rewritten');
      const result = await git.attempt('push', '--force', 'origin', 'main');
      assert.equal(result.code === 0, allowForcePush);
      if (!allowForcePush) assert.match(result.err, /remote rejected.*non-fast-forward/);
      const expected = allowForcePush ? await git('rev-parse', 'HEAD') : first;
      assert.equal(server.refs().get('refs/heads/main'), expected);
    }
  });

  it('the deletion of a branch in vain', async (t) => {
    const { server, git } = await cloned(t);
    await git('push', 'origin', 'HEAD:refs/heads/review');
    assert.notEqual((await git.attempt('push', 'origin', ':refs/heads/review')).code, 0);
    assert.ok(server.refs().has('refs/heads/review'));
  });

  it('a branch from which nothing new has to be sent', async (t) => {
    const { server, git, first } = await cloned(t);
    await server.commit({ files: { other: 'x\n' }, message: 'Second' });
    await git('push', 'origin', `${first}:refs/heads/old`);
    assert.equal(server.refs().get('refs/heads/old'), first);
  });

  it('many files as deltas and a file larger than one request buffer', async (t) => {
    const { server, git } = await cloned(t);
    const line = 'a line that many versions of the file share\n'.repeat(400);
    for (let index = 0; index < 12; index += 1)
      await commitLocally(git, 'text', `${line}${index}\n${line}`, `T${index}`);
    await commitLocally(git, 'big', randomBytes(3 * 1024 * 1024).toString('base64'), 'Big');
    await git('push', 'origin', 'main');
    assert.equal(server.files().get('text'), `${line}11\n${line}`);

    const other = nativeGit(await temporaryDirectory(t));
    await other('clone', server.url, '.');
    assert.equal(await other('rev-parse', 'HEAD'), await git('rev-parse', 'HEAD'));
    assert.equal((await other.attempt('fsck', '--full', '--strict')).err, '');
  });

  it('more than the server takes in vain, and reads why', async (t) => {
    const { server, git, first } = await cloned(t, { maxRequestBytes: 1024 * 1024 });
    await commitLocally(git, 'big', randomBytes(4 * 1024 * 1024), 'Big');
    assert.match((await git.attempt('push', 'origin', 'main')).err, /HTTP 413/);
    assert.equal(server.refs().get('refs/heads/main'), first);
  });

  it('from a shallow clone', async (t) => {
    const { server, first } = await cloned(t);
    const second = await server.commit({ files: manyFiles(30), message: 'Second' });
    const git = nativeGit(await temporaryDirectory(t));
    await git('clone', '--depth', '1', server.url, '.');
    const third = await commitLocally(git, 'mine', 'y\n', 'Third');
    await git('push', 'origin', 'main');
    assert.deepEqual(
      server.log(3).map(({ oid }) => oid),
      [third, second, first],
    );
  });

  it('notes, which the server reads and another clone shows', async (t) => {
    const { server, git, first } = await cloned(t);
    await git('notes', `--ref=${NOTES}`, 'add', '-m', 'general: 3/3 updated', first);
    await git('push', 'origin', NOTES);
    assert.deepEqual(server.readNotes(NOTES), new Map([[first, 'general: 3/3 updated\n']]));

    const other = nativeGit(await temporaryDirectory(t));
    await other('clone', server.url, '.');
    await other('fetch', 'origin', '+refs/notes/*:refs/notes/*');
    assert.match(
      await other('log', '--notes=kubelet-gitops/*'),
      /Notes \(kubelet-gitops\/demo\):\n +general: 3\/3 updated/,
    );
  });

  it('stale notes in vain, and merged ones with success', async (t) => {
    const { server, git, first } = await cloned(t);
    const other = nativeGit(await temporaryDirectory(t));
    await other('clone', server.url, '.');
    const second = await server.commit({ files: { a: '1\n' }, message: 'Second' });
    await other('fetch');
    await git('notes', `--ref=${NOTES}`, 'add', '-m', 'one', first);
    await git('push', 'origin', NOTES);
    await other('notes', `--ref=${NOTES}`, 'add', '-m', 'two', second);
    assert.match((await other.attempt('push', 'origin', NOTES)).err, /rejected/);
    await other('fetch', 'origin', `${NOTES}:refs/notes/theirs`);
    await other('notes', `--ref=${NOTES}`, 'merge', 'refs/notes/theirs');
    await other('push', 'origin', NOTES);
    assert.deepEqual(
      server.readNotes(NOTES),
      new Map([
        [first, 'one\n'],
        [second, 'two\n'],
      ]),
    );
  });

  it('enough notes that git spreads them over folders, and all are read', async (t) => {
    const { server, git } = await cloned(t);
    const by = 'committer Ada <ada@example.com> 1 +0000';
    const commits = Array.from({ length: 300 }, (_, index) => {
      const mark = `mark :${index + 1}\n${by}\ndata 1\nx\n`;
      return `commit refs/heads/side\n${mark}${index === 0 ? 'from refs/heads/main\n' : ''}`;
    });
    const notes = commits.map((_, index) => `N inline :${index + 1}\ndata <<END\nnote ${index}\nEND\n`);
    const script = [...commits, `commit ${NOTES}\n${by}\ndata 1\nx\n`, ...notes].join('');
    assert.equal((await git.feed(script, 'fast-import', '--quiet')).err, '');
    assert.match(await git('ls-tree', NOTES), /^040000 tree/m);

    await git('push', 'origin', 'side', NOTES);
    const listed = (await git('log', '--format=%H %N', '--notes='.concat(NOTES), '-n', '300', 'side')).split('\n');
    const shown = listed
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, 40), `${line.slice(41)}\n`] as const);
    assert.equal(shown.length, 300);
    assert.deepEqual(server.readNotes(NOTES), new Map(shown));
  });

  it('a name that git cannot store beside another in vain', async (t) => {
    const { server, git, first } = await cloned(t);
    await git('push', 'origin', `${first}:${NOTES}`);
    const blocked = await git.attempt('push', 'origin', `${first}:${NOTES}/deeper`);
    assert.match(blocked.err, /remote rejected.*cannot exist beside refs\/notes\/kubelet-gitops\/demo/);
    assert.deepEqual([...server.refs().keys()], ['refs/heads/main', NOTES]);
  });
});
