import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from '../support/native-git.ts';
import { started } from '../support/started.ts';

describe('a server with a directory', () => {
  it('goes on with what an earlier one kept there', async (t) => {
    const directory = await temporaryDirectory(t);
    const earlier = await startGitServer({ directory });
    const first = await earlier.commit({ files: { 'pools/a': 'a' }, message: 'One' });
    await earlier.commit({ files: { b: 'b' }, message: 'Side' }, 'side');
    await earlier.setRef('refs/tags/v1', first);
    await earlier.setRef('refs/heads/side', null);
    await earlier.stop();

    const later = await started(t, { directory });
    assert.deepEqual(
      [...later.refs()],
      [
        ['refs/heads/main', first],
        ['refs/tags/v1', first],
      ],
    );
    const second = await later.commit({ files: { 'pools/a': 'b' }, message: 'Two' });
    assert.deepEqual(
      later.log(5).map(({ oid }) => oid),
      [second, first],
    );
  });

  it('says which object is missing rather than serving a repository with a hole', async (t) => {
    const directory = await temporaryDirectory(t);
    const earlier = await startGitServer({ directory });
    const oid = await earlier.commit({ files: { a: '1' }, message: 'One' });
    await earlier.stop();
    await rm(join(directory, 'objects', oid.slice(0, 2), oid.slice(2)));
    await assert.rejects(startGitServer({ directory }), {
      code: 'GIT_REPOSITORY_UNREADABLE',
      message: new RegExp(oid),
    });
  });

  it('keeps a repository that the real git reads, writes and packs', { skip: WITHOUT_GIT }, async (t) => {
    const directory = await temporaryDirectory(t);
    const earlier = await startGitServer({ directory });
    await earlier.commit({ files: { a: '1\n' }, message: 'One' });
    const client = nativeGit(await temporaryDirectory(t));
    await client('clone', earlier.url, '.');
    await client('commit', '--allow-empty', '-m', 'Two');
    await client('tag', '-a', 'v1', '-m', 'First');
    await client('push', 'origin', 'main', 'v1');
    await earlier.stop();

    const stored = nativeGit(directory);
    assert.equal((await stored.attempt('fsck', '--full', '--strict')).err, '');
    await stored('gc', '--quiet');
    assert.deepEqual((await readdir(join(directory, 'refs', 'heads'))).length, 0);
    const later = await started(t, { directory });
    assert.equal(later.refs().get('refs/heads/main'), await client('rev-parse', 'main'));
    assert.equal(later.refs().get('refs/tags/v1'), await client('rev-parse', 'v1'));
    assert.deepEqual(later.files(), new Map([['a', '1\n']]));
  });

  it('takes a repository that the real git made, with its own main branch', { skip: WITHOUT_GIT }, async (t) => {
    const directory = await temporaryDirectory(t);
    await nativeGit(directory)('init', '--bare', '-b', 'trunk');
    const server = await started(t, { directory });
    const oid = await server.commit({ files: { a: '1\n' }, message: 'One' }, 'trunk');
    const client = nativeGit(await temporaryDirectory(t));
    await client('clone', server.url, '.');
    assert.equal(await client('symbolic-ref', 'HEAD'), 'refs/heads/trunk');
    assert.equal(await client('rev-parse', 'HEAD'), oid);
  });
});
