import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import type { RawRepository } from './support/repository.ts';
import { failsWith, manyPools, soon, start } from './support/start.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { columns } from '../../support/columns.ts';

/** A directory of `width` names for the same directory, `depth` times over: few objects, width^depth files. */
async function bomb(
  { blob, tree }: RawRepository,
  width: number,
  depth: number,
  leaf: string | Uint8Array,
): Promise<string> {
  let oid = await blob(leaf);
  for (let level = 0; level < depth; level += 1) {
    const mode = level === 0 ? '100644' : '40000';
    oid = await tree(Array.from({ length: width }, (_, n) => [mode, `n${String(n).padStart(3, '0')}.yaml`, oid]));
  }
  return oid;
}

describeOrSkip('a commit that is too big for a config repository', { skip: WITHOUT_GIT }, () => {
  it('is refused before a huge object is unpacked', async (t) => {
    const { server, repository, source } = await start(t);
    await server.git('config', 'uploadpack.allowFilter', 'false');
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n', 'docs/zeroes.bin': Buffer.alloc(64 * 1024 * 1024) });
    await server.git('repack', '-adq');
    const before = process.memoryUsage().rss;
    const peak = watchMemory();
    await assert.rejects(
      source().snapshot(null, soon()),
      failsWith('GIT_TOO_BIG', /67108864 bytes, and at most 1048576 .* GIT_PATH/),
    );
    assert.ok(peak() - before < 40 * 1024 * 1024, 'memory stays bounded');
  });

  it('is read without its large files where the server leaves them out: a picture is no matter, and a config is named', async (t) => {
    const { server, repository, source } = await start(t);
    const small = { 'base/a.yaml': 'a: 1\n', 'base/most.yaml': Buffer.alloc(256 * 1024, 'x') };
    const oid = await repository.commitFiles({
      ...small,
      'docs/picture.png': Buffer.alloc(3 * 1024 * 1024, 'p'),
      'pools/x/kubelet.yaml': Buffer.alloc(2 * 1024 * 1024, 'k'),
      'pools/y/kubelet.yaml': Buffer.alloc(256 * 1024 + 1, 'k'),
    });
    const git = source();
    const { commit, files, findings } = await git.snapshot(null, soon());
    assert.equal(commit.oid, oid);
    assert.deepEqual([...files.keys()], Object.keys(small));
    assert.deepEqual(
      columns(findings, 'code', 'file', 'message'),
      ['x', 'y'].map((pool) => [
        'file-too-big',
        `pools/${pool}/kubelet.yaml`,
        'more than 262144 bytes, and no more are read',
      ]),
    );
    await repository.commitFiles({ ...small, 'base/b.yaml': 'b: 1\n', 'docs/picture.png': Buffer.alloc(3 << 20, 'q') });
    assert.equal((await git.snapshot(oid, soon())).lineage, 'descendant');
    await server.git('config', 'uploadpackfilter.blob:limit.allow', 'false');
    await assert.rejects(source().snapshot(null, soon()), failsWith('GIT_TOO_BIG', /3145728 bytes/));
  });

  it('is read without what lies beside its configuration where the server hands that out, layers elsewhere with it', async (t) => {
    const { server, repository, source } = await start(t);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [`src/${nth}.json`, `{"a": ${nth}}`]));
    const ours = {
      'base/a.yaml': 'a: 1\n',
      'pools/x/pool.yaml': 'layers: [base/a.yaml, team/deep/b.yaml, team/big.yaml, team/link.yaml, none/c.yaml]\n',
      'team/big.yaml': Buffer.alloc(3 << 20, 'b'),
      'team/deep/b.yaml': 'b: 1\n',
    };
    const oid = await repository.commitFiles({ ...many, ...ours });
    const git = source({ limits: { objects: 100 } });
    for (const since of [null, oid]) {
      const { commit, files, findings } = await git.snapshot(since, soon());
      assert.equal(commit.oid, oid);
      assert.deepEqual([...files.keys()], ['base/a.yaml', 'pools/x/pool.yaml', 'team/deep/b.yaml']);
      assert.deepEqual(columns(findings, 'code', 'file'), [['file-too-big', 'team/big.yaml']]);
    }
    assert.equal((await git.earlier(oid, oid, soon()))?.files.size, 3);
    await server.git('config', 'uploadpack.allowFilter', 'false');
    await assert.rejects(
      source({ limits: { objects: 100 } }).snapshot(null, soon()),
      failsWith('GIT_TOO_BIG', /\d+ objects, and at most 100 are read.*; name the folder .* with GIT_PATH/),
    );
  });

  it('is refused when many small files make it big', async (t) => {
    const { repository, source } = await start(t);
    await repository.commitFiles(manyPools(60));
    const rows = [
      [{ inflatedBytes: 5000 }, /5000 bytes in all/],
      [{ files: 59 }, /59 files/],
      [{ treeEntries: 100 }, /100 files and directories/],
      [{ objects: 120 }, /121 objects/],
      [{ packBytes: 3000 }, /3000 bytes/],
    ] as const;
    for (const [limits, message] of rows) {
      await assert.rejects(source({ limits }).snapshot(null, soon()), failsWith('GIT_TOO_BIG', message));
    }
    assert.equal((await source({ limits: { files: 60, objects: 123 } }).snapshot(null, soon())).files.size, 60);
  });

  it('is refused when a handful of objects stand for a billion files', async (t) => {
    const { repository, source } = await start(t);
    const { tree, commit, setRef } = repository;
    const root = await tree([['40000', 'pools', await bomb(repository, 100, 5, 'a: 1\n')]]);
    await setRef('refs/heads/main', await commit({ tree: root }));
    await assert.rejects(
      source().snapshot(null, soon()),
      failsWith('GIT_TOO_BIG', /20000 files and directories|5000 files/),
    );
  });

  it('is read without directories that are too deep, which are named', async (t) => {
    const { repository, source } = await start(t);
    const deep = (depth: number) => ({ [`pools/${'d/'.repeat(depth - 2)}a.yaml`]: 'a: 1\n' });
    await repository.commitFiles(deep(16));
    assert.equal((await source().snapshot(null, soon())).files.size, 1);
    await repository.commitFiles({ ...deep(17), ...deep(30), 'pools/a/pool.yaml': 'a: 1\n' });
    const { files, findings } = await source().snapshot(null, soon());
    assert.deepEqual([...files.keys()], ['pools/a/pool.yaml']);
    assert.deepEqual(columns(findings, 'code', 'file'), [['directory-too-deep', `pools${'/d'.repeat(15)}`]]);
  });

  it('holds a file in memory once, however many names it has', async (t) => {
    const { repository, source } = await start(t);
    const { tree, commit, setRef } = repository;
    const root = await tree([['40000', 'pools', await bomb(repository, 60, 2, Buffer.alloc(256 * 1024, 'x'))]]);
    await setRef('refs/heads/main', await commit({ tree: root }));
    const { files } = await source().snapshot(null, soon());
    assert.equal(files.size, 3600);
    assert.equal(new Set([...files.values()].map((file) => file.bytes)).size, 1);
  });
});

/** The highest memory seen since the call, looked at often. */
function watchMemory(): () => number {
  let highest = 0;
  const look = (): void => {
    highest = Math.max(highest, process.memoryUsage().rss);
  };
  const timer = setInterval(look, 2).unref();
  return () => {
    clearInterval(timer);
    look();
    return highest;
  };
}
