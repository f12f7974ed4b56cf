import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from '../support/native-git.ts';
import { started } from '../support/started.ts';

const refused = (message: RegExp) => ({ code: 'GIT_CHANGE_INVALID', message });

describe('commit()', () => {
  it('writes, overwrites and deletes files and folders', async (t) => {
    const server = await started(t);
    await server.commit({
      files: { 'pools/a/pool.yaml': 'a', 'pools/b/pool.yaml': 'b', 'README.md': '1' },
      message: 'One',
    });
    await server.commit({ files: { 'pools/a/pool.yaml': 'A', 'pools/b': null, 'docs/x': 'x' }, message: 'Two' });
    assert.deepEqual(Object.fromEntries(server.files()), { 'README.md': '1', 'docs/x': 'x', 'pools/a/pool.yaml': 'A' });
    await server.commit({ files: { 'pools/a/pool.yaml': null, docs: 'a file now' }, message: 'Three' });
    assert.deepEqual(Object.fromEntries(server.files()), { 'README.md': '1', docs: 'a file now' });
    await server.commit({ files: { 'README.md': null, docs: null }, message: 'Nothing is left' });
    assert.equal(server.files().size, 0);
  });

  it('dates commits by its clock, names their author, and lists them newest first', async (t) => {
    let now = Date.parse('2026-03-01T12:00:00Z');
    const server = await started(t, { clock: { now: () => (now += 1000) } });
    const author = { name: 'Ada Lovelace', email: 'ada@example.com' };
    const first = await server.commit({ files: { a: '1' }, message: 'One', author });
    const second = await server.commit({ files: { a: '2' }, message: 'Two\n\nWith a body.\n', author });
    assert.deepEqual(server.log(5), [
      {
        oid: second,
        parents: [first],
        author,
        at: Date.parse('2026-03-01T12:00:02Z'),
        message: 'Two\n\nWith a body.\n',
      },
      { oid: first, parents: [], author, at: Date.parse('2026-03-01T12:00:01Z'), message: 'One\n' },
    ]);
    assert.equal(server.log(1).length, 1);
    assert.deepEqual(server.log(5, 'no-such-branch'), []);
  });

  it('commits to other branches, and what nobody committed to is empty', async (t) => {
    const server = await started(t);
    const oid = await server.commit({ files: { a: '1' }, message: 'One' }, 'feature/x');
    assert.deepEqual([...server.refs()], [['refs/heads/feature/x', oid]]);
    assert.equal(server.files().size, 0);
    assert.equal(server.readNotes('refs/notes/none').size, 0);
  });

  for (const path of ['', '/a', 'a/', 'a//b', '../a', 'a/./b', '.git/config', 'a/.GIT/x', 'a\0b']) {
    it(`refuses the path ${JSON.stringify(path)}`, async (t) => {
      const server = await started(t);
      await assert.rejects(server.commit({ files: { [path]: 'x' }, message: 'm' }), refused(/not the path of a file/));
    });
  }

  it('refuses to delete what is not there, and a file that is a folder too', async (t) => {
    const server = await started(t);
    await assert.rejects(server.commit({ files: { a: null }, message: 'm' }), refused(/"a" cannot be deleted/));
    await assert.rejects(
      server.commit({ files: { a: 'x', 'a/b': 'y' }, message: 'm' }),
      refused(/a file and a folder/),
    );
    assert.equal(server.refs().size, 0);
  });

  it('refuses an author that git could not read and a branch that git could not store', async (t) => {
    const server = await started(t);
    const author = { name: 'Ada <root>', email: 'a@b' };
    await assert.rejects(server.commit({ files: { a: '1' }, message: 'm', author }), refused(/author/));
    await assert.rejects(server.commit({ files: { a: '1' }, message: 'm' }, 'a..b'), refused(/funny refname/));
    await assert.rejects(server.setRef('HEAD', null), refused(/funny refname/));
  });

  it('lets one of two commits at the same moment win and tells the other', async (t) => {
    const server = await started(t);
    await server.commit({ files: { a: '1' }, message: 'One' });
    const results = await Promise.allSettled([
      server.commit({ files: { a: '2' }, message: 'Two' }),
      server.commit({ files: { a: '3' }, message: 'Three' }),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
    assert.equal(server.log(9).length, 2);
  });

  it('makes the trees that the real git makes of the same files', { skip: WITHOUT_GIT }, async (t) => {
    const git = nativeGit(await temporaryDirectory(t));
    await git('init');
    const names = [
      'a',
      'a.b',
      'a-b',
      'a0',
      'a b',
      'ä',
      'Z',
      'z/a',
      'z.x',
      'z0',
      'ab/c/d',
      'ab.c',
      'ab-',
      '😀/x',
      '\uffee',
    ];
    const server = await started(t);
    let branch = 0;
    await fc.assert(
      fc.asyncProperty(fc.subarray(names, { minLength: 1 }), async (chosen) => {
        branch += 1;
        const files = Object.fromEntries(chosen.map((name) => [name, name]));
        await server.commit({ files, message: 'm' }, `b${branch}`);
        await git('fetch', '-q', server.url, `b${branch}`);
        await git('read-tree', '--empty');
        const blob = await Promise.all(
          chosen.map(
            async (name) => `100644 ${(await git.feed(name, 'hash-object', '-w', '--stdin')).out.trim()}\t${name}`,
          ),
        );
        await git.feed(`${blob.join('\n')}\n`, 'update-index', '--index-info');
        assert.equal(await git('rev-parse', 'FETCH_HEAD^{tree}'), await git('write-tree'));
      }),
      { numRuns: 8 },
    );
    assert.equal((await git.attempt('fsck', '--strict')).code, 0);
  });

  it('keeps the mode of a file that somebody pushed as executable', { skip: WITHOUT_GIT }, async (t) => {
    const server = await started(t);
    await server.commit({ files: { 'run.sh': '1' }, message: 'One' });
    const git = nativeGit(await temporaryDirectory(t));
    await git('clone', server.url, '.');
    await git('update-index', '--chmod=+x', 'run.sh');
    await git('commit', '-m', 'Executable');
    await git('push', 'origin', 'main');
    await server.commit({ files: { 'run.sh': '2' }, message: 'Two' });
    await git('fetch');
    assert.match(await git('ls-tree', 'origin/main'), /^100755 blob [0-9a-f]+\trun\.sh$/);
  });
});
