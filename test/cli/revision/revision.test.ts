import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openRepository } from '#cli/revision/local-repository.ts';
import { readRevision, readWorkingCopy } from '#cli/revision/read-revision.ts';
import { createRepository, layer, type TestRepository } from '../support/repository.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('a revision of a checkout', () => {
  let repository: TestRepository;
  const commits: string[] = [];
  before(async () => {
    repository = await createRepository();
    for (const pods of [10, 20, 30]) {
      commits.push(await repository.commit(`maxPods ${pods}`, { 'base/all.yaml': layer(`maxPods: ${pods}`) }));
    }
    await repository.write({ 'base/all.yaml': layer('maxPods: 40') });
  });
  after(() => repository.remove());

  const oid = async (revision: string): Promise<string> =>
    (await (await openRepository(repository.directory)).commit(revision)).oid;

  it('has the names that git gives it', async () => {
    const [first = '', second = '', third = ''] = commits;
    for (const name of ['HEAD', '@', 'main', 'refs/heads/main', third, third.slice(0, 10), 'HEAD^0']) {
      assert.equal(await oid(name), third, name);
    }
    for (const name of ['HEAD~1', 'HEAD^', 'main~', '@~', `${third}^1`]) assert.equal(await oid(name), second, name);
    for (const name of ['HEAD~2', 'HEAD^^', 'main~1^']) assert.equal(await oid(name), first, name);
  });

  it('that is not there is said to be missing, with what may be the reason', async () => {
    for (const name of ['nope', 'HEAD~9', 'HEAD^2', 'ffffffffff', '', '~1', '^']) {
      await assert.rejects(oid(name), { code: 'REVISION_UNKNOWN' }, name);
    }
    await assert.rejects(oid('nope'), /there is no revision nope in .*: is it fetched\?/);
    await writeFile(join(repository.directory, '.git/shallow'), `${commits[2]}\n`);
    await assert.rejects(oid('nope'), /this clone is shallow .*: git fetch --unshallow/);
    await rm(join(repository.directory, '.git/shallow'));
  });

  it('is said to be missing by the name that it was asked by, where a clone ends before it', async () => {
    const shallow = await createRepository();
    await shallow.commit('start', { 'base/all.yaml': layer('maxPods: 1') });
    const last = await shallow.commit('next', { 'base/all.yaml': layer('maxPods: 2') });
    const opened = await openRepository(shallow.directory);
    const { parents } = await opened.commit(last);
    const [parent = ''] = parents;
    await rm(join(shallow.directory, '.git/objects', parent.slice(0, 2), parent.slice(2)));
    await assert.rejects((await openRepository(shallow.directory)).commit('HEAD~1'), /there is no revision HEAD~1 in /);
    await shallow.remove();
  });

  it('is said to be out of reach where its objects are elsewhere, or of another kind', async () => {
    const other = await createRepository();
    const dotGit = join(other.directory, '.git');
    const asked = async (name: string): Promise<unknown> => (await openRepository(other.directory)).commit(name);
    await writeFile(join(dotGit, 'objects/info/alternates'), '/elsewhere/.git/objects\n');
    for (const name of ['HEAD', 'nope']) await assert.rejects(asked(name), /borrows objects .* git repack -a -d/);
    const config = await readFile(join(dotGit, 'config'), 'utf8');
    await writeFile(join(dotGit, 'config'), `${config}[extensions]\n\tobjectformat = sha256\n`);
    await assert.rejects(asked('HEAD'), /are named by SHA-256/);
    await other.remove();
  });

  it('whose files are not in the clone is said to be of a partial one', async () => {
    const partial = await createRepository();
    await partial.commit('start', { 'base/all.yaml': layer('maxPods: 1') });
    const { tree } = await (await openRepository(partial.directory)).commit('HEAD');
    await rm(join(partial.directory, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    await assert.rejects(
      readRevision(await openRepository(partial.directory), 'HEAD', ''),
      /^GitopsError: the tree [0-9a-f]{40} is not in .*: a partial clone .* git fetch --refetch --no-filter brings them$/,
    );
    await partial.remove();
  });

  it('is none in a repository without a commit, which is said so', async () => {
    const empty = await createRepository();
    await assert.rejects(
      (await openRepository(empty.directory)).commit('HEAD'),
      / has no commit yet: commit what is there/,
    );
    await empty.remove();
  });

  it('is read without the working copy, and the working copy without a commit', async () => {
    const opened = await openRepository(join(repository.directory, 'base'));
    const text = async (files: Awaited<ReturnType<typeof readRevision>>['files']) =>
      Buffer.from(files.get('base/all.yaml')?.bytes ?? []).toString();
    const middle = await readRevision(opened, 'HEAD~1');
    assert.match(await text(middle.files), /maxPods: 20/);
    assert.equal(middle.commit?.subject, 'maxPods 20');
    const now = await readWorkingCopy(opened);
    assert.match(await text(now.files), /maxPods: 40/);
    assert.equal(now.commit, null);
  });

  it('is looked for in a repository only', async (t) => {
    const directory = temporaryDirectory(t);
    await assert.rejects(openRepository(directory), { code: 'NO_REPOSITORY' });
  });
});
