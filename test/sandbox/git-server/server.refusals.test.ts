import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fc } from '../../support/property.ts';
import type { GitObject } from '#sandbox/git-server/objects/oid.ts';
import { NO_OID } from '#sandbox/git-server/objects/oid.ts';
import { oidOf } from '#sandbox/git-server/objects/git-object.ts';
import { writePack } from '#sandbox/git-server/pack/pack-writer.ts';
import { FLUSH, packet } from '#sandbox/git-server/protocol/packets.ts';
import { isRefName } from '#sandbox/git-server/repository/ref-rules.ts';
import type { SandboxGitServer } from '#sandbox/git-server/server.ts';
import { started } from './support/started.ts';

async function post(url: string, body: Buffer | string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', body: new Uint8Array(Buffer.from(body)), headers });
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') };
}

/** A push in plain bytes: commands with `report-status`, then a pack where there is one. */
function push(server: SandboxGitServer, commands: readonly string[], pack: Buffer = Buffer.alloc(0)) {
  const lines = commands.map((line, index) => packet(index === 0 ? `${line}\0 report-status` : line));
  return post(`${server.url}/git-receive-pack`, Buffer.concat([...lines, FLUSH, pack]));
}

const blob: GitObject = { type: 'blob', body: Buffer.from('x') };
const orphan: GitObject = {
  type: 'commit',
  body: Buffer.from(`tree ${'1'.repeat(40)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n`),
};

describe('what is not the git protocol', () => {
  it('is refused with a status that says so', async (t) => {
    const { url } = await started(t);
    const root = new URL(url).origin;
    assert.equal((await fetch(`${root}/other.git/info/refs?service=git-upload-pack`)).status, 404);
    assert.equal((await fetch(`${url}/info/refs`)).status, 404);
    assert.equal((await fetch(`${url}/info/refs?service=git-shell`)).status, 404);
    assert.equal((await fetch(`${url}/HEAD`)).status, 404);
    assert.equal((await fetch(`${url}/git-upload-pack`)).status, 404);
    assert.equal((await post(`${url}/git-upload-pack`, 'hello there')).status, 400);
    assert.equal((await post(`${url}/git-upload-pack`, '0003')).status, 400);
    assert.equal((await post(`${url}/git-upload-pack`, packet('want something\n'))).status, 400);
    assert.equal((await post(`${url}/git-receive-pack`, packet('a b c'))).status, 400);
    assert.equal((await post(`${url}/git-upload-pack`, 'x', { 'Content-Encoding': 'br' })).status, 400);
    assert.equal((await post(`${url}/git-upload-pack`, 'x', { 'Content-Encoding': 'gzip' })).status, 400);
  });

  it('does not end the server, whatever the bytes', async (t) => {
    const server = await started(t);
    const tip = await server.commit({ files: { a: '1' }, message: 'One' });
    const words = fc.constantFrom('0000', '0001', '0004', 'want ', tip, 'have ', 'done', '\n', '\0', 'PACK', 'deepen ');
    const bodies = fc.array(
      fc.oneof(
        words,
        words.map((word) => packet(word).toString('latin1')),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(bodies, fc.constantFrom('git-upload-pack', 'git-receive-pack'), async (parts, service) => {
        const { status } = await post(`${server.url}/${service}`, parts.join(''));
        assert.ok(status === 200 || status === 400, `status ${status}`);
      }),
      { numRuns: 100 },
    );
    assert.deepEqual([...server.refs()], [['refs/heads/main', tip]]);
  });

  it('is not kept beyond the limit, zipped or not', async (t) => {
    const { url } = await started(t, { maxRequestBytes: 10_000 });
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    assert.ok(bomb.length < 10_000);
    assert.equal((await post(`${url}/git-upload-pack`, bomb, { 'Content-Encoding': 'gzip' })).status, 413);
    assert.equal((await post(`${url}/git-receive-pack`, Buffer.alloc(10_001))).status, 413);
    assert.equal((await post(`${url}/git-receive-pack`, Buffer.alloc(20_000_000))).status, 413);
    assert.equal((await post(`${url}/git-upload-pack`, gzipSync('0000'), { 'Content-Encoding': 'gzip' })).status, 200);
  });
});

describe('commands that are not offered', () => {
  it('come back as an error that git clients print', async (t) => {
    const server = await started(t);
    const tip = await server.commit({ files: { a: '1' }, message: 'One' });
    const v2 = { 'Git-Protocol': 'version=2' };
    const ask = async (...lines: readonly string[]) => {
      const body = Buffer.concat(lines.map((line) => (line === '|' ? Buffer.from('0001') : packet(`${line}\n`))));
      return (await post(`${server.url}/git-upload-pack`, Buffer.concat([body, FLUSH]), v2)).text.slice(4);
    };
    assert.match(await ask('command=object-info'), /^ERR unknown command=object-info/);
    assert.match(await ask('command=fetch', 'object-format=sha256'), /^ERR mismatched object format/);
    assert.match(await ask('command=fetch', '|', `want ${tip}`, 'filter blob:none', 'done'), /^ERR .*"filter"/);
    assert.match(await ask('command=fetch', '|', `want ${tip}`, 'deepen-since 1', 'done'), /^ERR .*"deepen-since"/);
    assert.match(await ask('command=fetch', '|', `want ${'2'.repeat(40)}`, 'done'), /^ERR .*not our ref 2{40}/);
  });
});

describe('a push', () => {
  it('of a broken pack, or of one with a hole, changes nothing', async (t) => {
    const server = await started(t);
    const command = `${NO_OID} ${oidOf(orphan)} refs/heads/main`;
    const broken = await push(server, [command], Buffer.from('PACK and so on, which is long enough'));
    assert.match(broken.text, /unpack not a version 2 pack\n.*ng refs\/heads\/main unpacker error/s);
    const holed = await push(server, [command], writePack([orphan]));
    assert.match(holed.text, /unpack missing necessary object 1{40}\n/);
    assert.match((await push(server, [command])).text, /ng refs\/heads\/main missing necessary objects/);
    assert.equal(server.refs().size, 0);
  });

  it('judges each ref by itself, and the second change of one ref by the first', async (t) => {
    const server = await started(t);
    const tip = await server.commit({ files: { a: '1' }, message: 'One' });
    const oid = oidOf(blob);
    const { text } = await push(
      server,
      [
        `${NO_OID} ${oid} refs/heads/blob`,
        `${NO_OID} ${oid} refs/blobs/x`,
        `${NO_OID} ${tip} refs/blobs/x`,
        `${tip} ${NO_OID} refs/heads/main`,
        `${NO_OID} ${tip} refs/heads/../x`,
        `${NO_OID} ${tip} HEAD`,
      ],
      writePack([blob]),
    );
    const results = [...text.matchAll(/(ok|ng) (\S+) ?([^\n]*)\n/g)].map(([, word, ref, why]) => [word, ref, why]);
    assert.deepEqual(results, [
      ['ng', 'refs/heads/blob', 'a branch can only name a commit'],
      ['ok', 'refs/blobs/x', ''],
      ['ng', 'refs/blobs/x', 'stale info: the ref has moved, fetch first'],
      ['ng', 'refs/heads/main', 'deletion prohibited'],
      ['ng', 'refs/heads/../x', 'funny refname'],
      ['ng', 'HEAD', 'funny refname'],
    ]);
    assert.deepEqual(Object.fromEntries(server.refs()), { 'refs/heads/main': tip, 'refs/blobs/x': oid });
  });

  it('that races with others wins or is told, and exactly one wins', async (t) => {
    const server = await started(t);
    const oids = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        server.commit({ files: { a: `${index}` }, message: 'm' }, `side${index}`),
      ),
    );
    const answers = await Promise.all(oids.map((oid) => push(server, [`${NO_OID} ${oid} refs/notes/x`])));
    assert.equal(answers.filter(({ text }) => text.includes('ok refs/notes/x')).length, 1);
    assert.equal(answers.filter(({ text }) => text.includes('ng refs/notes/x stale info')).length, 7);
  });
});

describe('ref names', () => {
  const good = ['refs/heads/main', 'refs/notes/kubelet-gitops/prod-eu-1', 'refs/heads/ä', 'refs/tags/v1.0'];
  const bad = [
    'main',
    'refs/x',
    'refs/heads/',
    'refs/heads/.a',
    'refs/heads/a.lock',
    'refs/heads/a b',
    'refs/heads/a..b',
  ];
  const worse = ['refs//a', 'refs/heads/a\u007f', 'refs/heads/a@{1}', 'refs/heads/a.', 'refs/heads/a\\b', 'x/heads/a'];
  for (const ref of good) it(`${ref} is one`, () => assert.ok(isRefName(ref)));
  for (const ref of [...bad, ...worse]) it(`${JSON.stringify(ref)} is none`, () => assert.ok(!isRefName(ref)));
});
