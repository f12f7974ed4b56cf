import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { manyPools, soon, start } from './support/start.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

describeOrSkip('a snapshot', { skip: WITHOUT_GIT }, () => {
  it('holds the configuration files of the commit, byte for byte', async (t) => {
    const { server, repository, source } = await start(t);
    const odd = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0x00, 0xff]);
    const oid = await repository.commitFiles({
      'base/a.yaml': 'a: 1\n',
      'clusters/prod.yaml': 'x: y\n',
      'pools/gpu/kubelet.yaml': 'maxPods: 1\n',
      'pools/gpu/notes.txt': odd,
      'pools/gpu/pool.yaml': 'layers: [elsewhere/deep/layer.yml, ../../elsewhere/layer.json]\n',
      'elsewhere/deep/layer.yml': 'b: 2\n',
      'elsewhere/deep/unnamed.yml': 'not read',
      'elsewhere/layer.json': '{}',
      'elsewhere/readme.md': 'not read',
      '.github/workflows/ci.yaml': 'not read',
    });
    const snapshot = await source().snapshot(null, soon());
    assert.equal(snapshot.commit.oid, oid);
    assert.equal(snapshot.lineage, 'first');
    assert.deepEqual(snapshot.findings, []);
    assert.deepEqual([...snapshot.files.keys()].sort(), [
      'base/a.yaml',
      'clusters/prod.yaml',
      'elsewhere/deep/layer.yml',
      'elsewhere/layer.json',
      'pools/gpu/kubelet.yaml',
      'pools/gpu/notes.txt',
      'pools/gpu/pool.yaml',
    ]);
    assert.deepEqual(Buffer.from(snapshot.files.get('pools/gpu/notes.txt')?.bytes ?? []), odd);
    const named = await server.git('rev-parse', `${oid}:pools/gpu/notes.txt`);
    assert.equal(snapshot.files.get('pools/gpu/notes.txt')?.oid, named);
  });

  it('says who wrote the commit, and keeps its bytes for the check of a signature', async (t) => {
    const { server, repository, source } = await start(t);
    const tree = await repository.tree([]);
    const signature = 'gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n';
    const oid = await repository.commit({
      tree,
      extra: signature,
      message: 'Raise \u202emaxPods\u0007 for gpu\r\n\nBody\n',
    });
    await repository.setRef('refs/heads/main', oid);
    const { commit } = await source().snapshot(null, soon());
    assert.equal(commit.subject, 'Raise maxPods for gpu');
    assert.deepEqual(commit.author, { name: 'Ada Lovelace', email: 'ada@example.com', at: '2026-01-01T00:01:00Z' });
    assert.deepEqual(commit.parents, []);
    assert.equal(text(commit.raw), (await server.git.attempt('cat-file', 'commit', oid)).out);
  });

  it('of an empty tree is empty', async (t) => {
    const { repository, source } = await start(t);
    await repository.setRef('refs/heads/main', await repository.commit({ tree: await repository.tree([]) }));
    assert.equal((await source().snapshot(null, soon())).files.size, 0);
  });

  it('reads files out of packs with deltas', async (t) => {
    const { server, repository, source } = await start(t);
    const long = Array.from({ length: 400 }, (_, n) => `# line ${n}\n`).join('');
    await repository.commitFiles(
      Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`pools/p${n}/kubelet.yaml`, `${long}maxPods: ${n}\n`])),
    );
    await server.git('repack', '-adfq', '--depth=20');
    const { files } = await source().snapshot(null, soon());
    for (let n = 0; n < 30; n += 1)
      assert.equal(text(files.get(`pools/p${n}/kubelet.yaml`)?.bytes), `${long}maxPods: ${n}\n`);
  });

  it('shares the bytes of files that did not change with the one before', async (t) => {
    const { repository, source } = await start(t);
    const git = source();
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n', 'base/b.yaml': 'b: 1\n' });
    const first = await git.snapshot(null, soon());
    await repository.commitFiles({ 'base/a.yaml': 'a: 2\n', 'base/c.yaml': 'b: 1\n' });
    const second = await git.snapshot(null, soon());
    assert.equal(text(second.files.get('base/a.yaml')?.bytes), 'a: 2\n');
    assert.equal(second.files.get('base/c.yaml')?.bytes, first.files.get('base/b.yaml')?.bytes);
  });

  it('of many pools lists all of them', async (t) => {
    const { repository, source } = await start(t);
    await repository.commitFiles(manyPools(200));
    const { files } = await source().snapshot(null, soon());
    assert.equal(files.size, 200);
    assert.match(text(files.get('pools/pool-00117/kubelet.yaml')?.bytes), /maxPods: 117/);
  });
});
