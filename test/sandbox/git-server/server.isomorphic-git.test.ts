import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import {
  addNote,
  addRemote,
  clone,
  commit,
  fetch,
  getRemoteInfo2,
  init,
  listServerRefs,
  log,
  push,
  readBlob,
  readTree,
  walk,
  TREE,
} from 'isomorphic-git';
import * as http from 'isomorphic-git/http/node';
import { temporaryDirectory } from './support/native-git.ts';
import { manyFiles, started } from './support/started.ts';

const NOTES = 'refs/notes/kubelet-gitops/demo';
const author = { name: 'Ada', email: 'ada@example.com' };

/** With the names that make the library offer what it has (see its `fetch`). */
const MAIN = {
  remote: 'origin',
  remoteRef: 'refs/heads/main',
  ref: 'refs/remotes/origin/main',
  singleBranch: true,
  tags: false,
};

async function bareStore(t: TestContext, url: string) {
  const at = { fs, gitdir: join(await temporaryDirectory(t), 'store') };
  await init({ ...at, bare: true });
  await addRemote({ ...at, remote: 'origin', url });
  return at;
}

describe('isomorphic-git', () => {
  it('lists refs with protocol version 2, narrowed by a prefix', async (t) => {
    const server = await started(t);
    const { url } = server;
    const oid = await server.commit({ files: { a: '1\n' }, message: 'One' });
    await server.setRef('refs/heads/main-2', oid);
    await server.setRef('refs/tags/v1', oid);
    assert.deepEqual(await listServerRefs({ http, url, prefix: 'refs/heads/main' }), [
      { ref: 'refs/heads/main', oid },
      { ref: 'refs/heads/main-2', oid },
    ]);
    const head = await listServerRefs({ http, url, prefix: 'HEAD', symrefs: true });
    assert.deepEqual(head, [{ ref: 'HEAD', oid, target: 'refs/heads/main' }]);
    const { capabilities } = await getRemoteInfo2({ http, url });
    assert.equal(capabilities['object-format'], 'sha1');
  });

  it('finds no refs in an empty repository', async (t) => {
    const { url } = await started(t);
    assert.deepEqual(await listServerRefs({ http, url, prefix: 'refs/heads/' }), []);
    assert.deepEqual(await listServerRefs({ http, url, protocolVersion: 1 }), []);
  });

  it('fetches one commit of 1,000 files and reads them', async (t) => {
    const server = await started(t);
    await server.commit({ files: manyFiles(1000), message: 'Many' });
    const oid = await server.commit({ files: { 'pools/p0/file-0.yaml': 'maxPods: 7\n' }, message: 'One' });
    const at = await bareStore(t, server.url);
    const { fetchHead } = await fetch({ ...at, http, ...MAIN, depth: 1 });
    assert.equal(fetchHead, oid);
    assert.equal((await log({ ...at, ref: oid })).length, 1);
    const { blob } = await readBlob({ ...at, oid, filepath: 'pools/p0/file-0.yaml' });
    assert.equal(Buffer.from(blob).toString(), 'maxPods: 7\n');
    const paths = (await walk({
      ...at,
      cache: {},
      trees: [TREE({ ref: oid })],
      map: async (path, [entry]) => ((await entry?.type()) === 'blob' ? path : undefined),
      reduce: async (parent: string | undefined, children: (string | string[])[]) =>
        [parent, ...children.flat()].filter((path) => path !== undefined),
    })) as readonly string[];
    assert.equal(paths.length, 1000);
  });

  it('fetches the rest after a first fetch, over and over', async (t) => {
    const server = await started(t);
    const at = await bareStore(t, server.url);
    for (let index = 1; index <= 3; index += 1) {
      const oid = await server.commit({ files: { a: `${index}\n` }, message: `Commit ${index}` });
      await fetch({ ...at, http, ...MAIN });
      assert.equal((await log({ ...at, ref: 'refs/remotes/origin/main' }))[0]?.oid, oid);
      assert.equal((await log({ ...at, ref: 'refs/remotes/origin/main' })).length, index);
    }
  });

  it('pushes a commit, and is refused when the branch moved meanwhile', async (t) => {
    const server = await started(t);
    await server.commit({ files: { a: '1\n' }, message: 'One' });
    const at = { fs, dir: await temporaryDirectory(t) };
    await clone({ ...at, http, url: server.url });
    const oid = await commit({ ...at, message: 'Two', author });
    const pushed = await push({ ...at, http, ref: 'main' });
    assert.equal(pushed.ok, true);
    assert.equal(server.refs().get('refs/heads/main'), oid);

    await commit({ ...at, message: 'Three', author });
    const theirs = await server.commit({ files: { b: '1\n' }, message: 'Faster' });
    await assert.rejects(push({ ...at, http, ref: 'main' }), { code: 'PushRejectedError' });
    await assert.rejects(push({ ...at, http, ref: 'main', force: true }), {
      code: 'GitPushError',
      message: /non-fast-/,
    });
    assert.equal(server.refs().get('refs/heads/main'), theirs);
  });

  it('adds notes from a notes ref that it fetched one commit deep', async (t) => {
    const server = await started(t);
    const first = await server.commit({ files: { a: '1\n' }, message: 'One' });
    const second = await server.commit({ files: { a: '2\n' }, message: 'Two' });
    for (const [oid, note] of [
      [first, 'halted\n'],
      [second, 'settled\n'],
    ] as const) {
      const at = await bareStore(t, server.url);
      if (server.refs().has(NOTES)) {
        const { fetchHead } = await fetch({ ...at, http, ...MAIN, ref: NOTES, remoteRef: NOTES, depth: 1 });
        const { tree } = await readTree({ ...at, oid: fetchHead ?? '' });
        assert.deepEqual(
          tree.map((entry) => entry.path),
          [first],
        );
        fs.mkdirSync(join(at.gitdir, NOTES, '..'), { recursive: true });
        fs.writeFileSync(join(at.gitdir, NOTES), `${fetchHead}\n`);
      }
      await addNote({ ...at, ref: NOTES, oid, note, author });
      await push({ ...at, http, url: server.url, ref: NOTES, remoteRef: NOTES });
    }
    assert.deepEqual(
      server.readNotes(NOTES),
      new Map([
        [first, 'halted\n'],
        [second, 'settled\n'],
      ]),
    );
  });
});
