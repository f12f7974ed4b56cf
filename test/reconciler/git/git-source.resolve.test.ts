import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { failsWith, soon, start } from './support/start.ts';
import { itOverHttp } from './support/transport.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';

describeOrSkip('a poll', { skip: WITHOUT_GIT }, () => {
  it('names the commit that the branch points at', async (t) => {
    const { repository, source } = await start(t);
    const git = source();
    const first = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    assert.equal(await git.resolve(soon()), first);
    const second = await repository.commitFiles({ 'base/a.yaml': 'a: 2\n' });
    assert.equal(await git.resolve(soon()), second);
  });

  itOverHttp('costs one request of less than a kilobyte, both ways and headers counted', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source();
    await git.resolve(soon());
    const before = server.requests.length;
    server.wire();
    await git.resolve(soon());
    const { up, down } = server.wire();
    t.diagnostic(`a poll without news: ${up} bytes up, ${down} bytes down`);
    assert.equal(server.requests.length - before, 1);
    assert.ok(up + down < 1024, `${up} + ${down} bytes`);
  });

  it('costs the same with 20,000 other refs', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const pulls = Array.from(
      { length: 20_000 },
      (_, n) => [`refs/pull/${String(n).padStart(6, '0')}/head`, oid] as const,
    );
    await repository.packRefs(new Map(pulls));
    const git = source();
    server.wire();
    assert.equal(await git.resolve(soon()), oid);
    const first = server.wire();
    await git.resolve(soon());
    const next = server.wire();
    assert.ok(first.up + first.down < 2048, `${first.up} + ${first.down} bytes at first`);
    assert.ok(next.up + next.down < 1024, `${next.up} + ${next.down} bytes`);
  });

  it('takes a branch by its whole name only', async (t) => {
    const { repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' }, { branch: 'main-2' });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_BRANCH_MISSING', /main/));
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' }, { branch: 'main' });
    assert.equal(await source().resolve(soon()), oid);
  });

  it('says that the branch is missing where the repository is empty', async (t) => {
    const { source } = await start(t);
    await assert.rejects(source().resolve(soon()), failsWith('GIT_BRANCH_MISSING'));
    await assert.rejects(source().snapshot(null, soon()), failsWith('GIT_BRANCH_MISSING'));
  });

  it('says that the branch is missing where it was deleted, and finds it again', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source();
    await git.resolve(soon());
    await server.git('update-ref', '-d', 'refs/heads/main');
    await assert.rejects(git.resolve(soon()), failsWith('GIT_BRANCH_MISSING'));
    await repository.setRef('refs/heads/main', oid);
    assert.equal(await git.resolve(soon()), oid);
  });

  itOverHttp('never takes a list of refs that was cut for one without the branch', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source();
    for (const fault of ['cut', 'clean-cut', 'empty'] as const) {
      server.fault = (kind) => (kind === 'refs' ? fault : null);
      await assert.rejects(git.resolve(soon()), failsWith('GIT_CUT'), fault);
      server.fault = (kind) => (kind === 'greeting' ? fault : null);
      await assert.rejects(source().resolve(soon()), failsWith('GIT_CUT'), fault);
    }
    server.fault = () => null;
    assert.equal(await git.resolve(soon()), oid);
  });

  it('refuses a SHA-256 repository in plain words', async (t) => {
    const { server, source } = await start(t, { init: ['--object-format=sha256'] });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_SHA256', /SHA-256/));
    const tree = await server.git('hash-object', '-t', 'tree', '-w', '/dev/null');
    await server.git('update-ref', 'refs/heads/main', await server.git('commit-tree', '-m', 'x', tree));
    await assert.rejects(source().resolve(soon()), failsWith('GIT_SHA256'));
  });

  it('works where the server speaks only the old protocol', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    server.fault = (_, request) => {
      delete request.headers['git-protocol'];
      return null;
    };
    const git = source();
    assert.equal(await git.resolve(soon()), oid);
    assert.equal((await git.snapshot(null, soon())).commit.oid, oid);
  });

  it('reads a branch although the server’s default branch does not exist', async (t) => {
    const { repository, source } = await start(t, { init: ['--initial-branch=trunk'] });
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    assert.equal((await source().snapshot(null, soon())).commit.oid, oid);
  });
});
