import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { GitSource } from '#reconciler/git/source-port.ts';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { FOLDER, monorepo } from './support/monorepo.ts';
import { failsWith, soon, start } from './support/start.ts';
import { itOverHttp } from './support/transport.ts';

const change = (n: number) => ({ 'base/a.yaml': `a: ${n}\n` });
const POOL = { 'pools/a/pool.yaml': 'a: 1\n', 'base/all.yaml': 'c: 1\n' };
const CHANGED = { ...POOL, 'base/all.yaml': 'c: 2\n' };

/** What a file says in it; null for no such commit. */
const said = (found: Snapshot | null, path = 'base/a.yaml'): string | null =>
  found === null ? null : Buffer.from(found.files.get(path)?.bytes ?? []).toString();

/** As of the tip of the branch. */
const earlier = async (git: GitSource, oid: string): Promise<Snapshot | null> =>
  git.earlier(oid, await git.resolve(soon()), soon());

describeOrSkip('an earlier commit of the branch', { skip: WITHOUT_GIT }, () => {
  it('is read with the files that it had, as is the tip', async (t) => {
    const { repository, source } = await start(t);
    const oids = [];
    for (let n = 0; n < 4; n += 1) oids.push(await repository.commitFiles(change(n)));
    const git = source();
    for (const [n, oid] of oids.entries()) {
      const found = await earlier(git, oid);
      assert.deepEqual([found?.commit.oid, said(found)], [oid, `a: ${n}\n`]);
    }
  });

  it('may have come by either side of a merge', async (t) => {
    const { server, repository, source } = await start(t);
    const root = await repository.commitFiles(change(0));
    const tree = await server.git('rev-parse', `${root}^{tree}`);
    const left = await repository.commit({ tree, parents: [root], message: 'left' });
    const right = await repository.commit({ tree, parents: [root], message: 'right' });
    const merge = await repository.commit({ tree, parents: [left, right] });
    await repository.setRef('refs/heads/main', merge);
    for (const oid of [root, left, right, merge]) assert.equal((await earlier(source(), oid))?.commit.oid, oid);
  });

  it('is none that another branch has, that the branch lost, or that nobody knows', async (t) => {
    const { server, repository, source } = await start(t);
    const first = await repository.commitFiles(change(1));
    const amended = await repository.commitFiles(change(2));
    await repository.setRef('refs/heads/main', first);
    const tip = await repository.commitFiles(change(3));
    await repository.setRef('refs/heads/other', first);
    const other = await repository.commitFiles(change(4), { branch: 'other' });
    const unrelated = await repository.commitFiles(change(5), { branch: 'unrelated' });
    const tree = await server.git('rev-parse', `${first}^{tree}`);
    const git = source();
    for (const oid of [amended, other, unrelated, tree, 'd'.repeat(40)]) assert.equal(await earlier(git, oid), null);
    assert.equal(said(await earlier(git, tip)), 'a: 3\n');
    await repository.setRef('refs/heads/main', first);
    assert.equal(await earlier(git, tip), null, 'the branch was forced back behind it');
    assert.equal(await git.earlier(tip, first, soon()), null, 'a tip that is not in force vouches for nothing');
  });

  itOverHttp('is none by another name than its own, and nothing of that is said to the server', async (t) => {
    const { server, repository, source } = await start(t);
    const first = await repository.commitFiles(change(1));
    const tip = await repository.commitFiles(change(2));
    for (const name of ['', 'main', first.slice(0, 12), first.toUpperCase(), `${first}\nwant ${tip}`, `${first}\n`]) {
      assert.equal(await source().earlier(name, tip, soon()), null);
    }
    assert.deepEqual(server.requests, []);
  });

  it('is none where too much lies in between to tell, however near the end is', async (t) => {
    const { server, repository, source } = await start(t);
    await server.git('config', 'uploadpack.allowFilter', 'false');
    const first = await repository.commitFiles(change(0));
    let tip = first;
    for (let n = 1; n <= 30; n += 1) tip = await repository.commitFiles(change(n));
    const git = source({ limits: { objects: 50 } });
    assert.equal(await earlier(git, first), null);
    assert.equal(said(await earlier(git, tip)), 'a: 30\n');
  });

  it('leaves what is known of the branch as it was', async (t) => {
    const { repository, source } = await start(t);
    const old = await repository.commitFiles({ 'base/a.yaml': 'a: 0\n' });
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n', 'base/b.yaml': 'b: 1\n' });
    const git = source();
    const first = await git.snapshot(null, soon());
    assert.equal(said(await earlier(git, old)), 'a: 0\n');
    await repository.commitFiles({ 'base/a.yaml': 'a: 2\n', 'base/b.yaml': 'b: 1\n' });
    const second = await git.snapshot(null, soon());
    assert.equal(second.files.get('base/b.yaml')?.bytes, first.files.get('base/b.yaml')?.bytes);
  });

  itOverHttp('is read from a server that leaves nothing out, and is none where that refuses it', async (t) => {
    const { server, repository, source } = await start(t);
    await server.git('config', 'uploadpack.allowFilter', 'false');
    const first = await repository.commitFiles(change(1));
    await repository.commitFiles(change(2));
    const git = source();
    assert.equal(said(await earlier(git, first)), 'a: 1\n');
    // The first pack is the history in between.
    const spoilt = (status: number) => {
      let packs = 0;
      server.fault = (kind) => (kind === 'pack' && ++packs === 2 ? { status } : null);
    };
    spoilt(410);
    assert.equal(await earlier(git, first), null);
    spoilt(503);
    await assert.rejects(earlier(git, first), failsWith('GIT_SERVER_ERROR'));
  });

  it('is named where it is too big', async (t) => {
    const { repository, source } = await start(t);
    const big = await repository.commitFiles({ ...change(1), 'base/b.yaml': 'b', 'base/c.yaml': 'c' });
    await repository.commitFiles(change(2));
    await assert.rejects(earlier(source({ limits: { files: 2 } }), big), (error: unknown) => {
      assert.ok(failsWith('GIT_TOO_BIG')(error));
      assert.deepEqual((error as { fields: unknown }).fields, { commit: big });
      return true;
    });
  });
});

describeOrSkip('a folder in an earlier commit', { skip: WITHOUT_GIT }, () => {
  const setUp = async (t: TestContext) => {
    const started = await start(t);
    return { ...started, mono: monorepo(started.repository, 60) };
  };

  for (const filters of [true, false]) {
    it(`is read ${filters ? 'alone' : 'out of the whole commit'}, whoever changed it last`, async (t) => {
      const { server, source, mono } = await setUp(t);
      await server.git('config', 'uploadpack.allowFilter', String(filters));
      // What git wants over ssh, where it hands out no single objects.
      await server.git('config', 'uploadpack.allowReachableSHA1InWant', String(!filters));
      const without = await mono.commit(null);
      const made = await mono.commit(POOL);
      const elsewhere = await mono.commit(POOL, 1);
      const changed = await mono.commit(CHANGED, 1);
      await mono.commit(CHANGED, 2);
      const git = source({ path: FOLDER });
      for (const [oid, text] of [
        [made, 'c: 1\n'],
        [elsewhere, 'c: 1\n'],
        [changed, 'c: 2\n'],
      ] as const) {
        const found = await earlier(git, oid);
        assert.deepEqual([found?.commit.oid, said(found, 'base/all.yaml')], [oid, text]);
        assert.deepEqual([...(found?.files.keys() ?? [])].sort(), Object.keys(POOL).sort());
        assert.equal(found?.files.get('base/all.yaml')?.path, `${FOLDER}/base/all.yaml`);
      }
      assert.equal(await earlier(git, without), null);
    });
  }

  it('leaves the folder of the branch known, and is that one where it is the same', async (t) => {
    const { source, mono } = await setUp(t);
    const made = await mono.commit(POOL);
    const changed = await mono.commit(CHANGED);
    const git = source({ path: FOLDER });
    const { files } = await git.snapshot(null, soon());
    assert.equal(said(await earlier(git, made), 'base/all.yaml'), 'c: 1\n');
    assert.equal((await earlier(git, changed))?.files, files);
    await mono.commit(CHANGED, 1);
    assert.equal((await git.snapshot(changed, soon())).files, files);
  });
});
