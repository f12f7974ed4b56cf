import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GitCredential } from '#sandbox/git-server/http/access.ts';
import { judgeAccess } from '#sandbox/git-server/http/access.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from '../support/native-git.ts';
import { started } from '../support/started.ts';

const credentials: readonly GitCredential[] = [
  { username: 'ada', password: 'sec:ret' },
  { username: 'reader', password: 'read', readOnly: true },
];
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

const rows = [
  ['no header', undefined, 'git-upload-pack', 'unknown'],
  ['a writer that fetches', basic('ada:sec:ret'), 'git-upload-pack', 'granted'],
  ['a writer that pushes', basic('ada:sec:ret'), 'git-receive-pack', 'granted'],
  ['a scheme in another case', basic('ada:sec:ret').replace('Basic', 'BASIC'), 'git-receive-pack', 'granted'],
  ['a reader that fetches', basic('reader:read'), 'git-upload-pack', 'granted'],
  ['a reader that pushes', basic('reader:read'), 'git-receive-pack', 'forbidden'],
  ['a wrong password', basic('ada:secret'), 'git-upload-pack', 'unknown'],
  ["another's password", basic('ada:read'), 'git-upload-pack', 'unknown'],
  ['a bearer token', 'Bearer sec:ret', 'git-upload-pack', 'unknown'],
] as const;

describe('who may do what', () => {
  for (const [name, header, service, expected] of rows) {
    it(`${name}: ${expected}`, () => assert.equal(judgeAccess(header, service, credentials), expected));
  }

  it('everyone everything where no credentials are configured', () => {
    assert.equal(judgeAccess(undefined, 'git-receive-pack', []), 'granted');
  });
});

describe('over HTTP', () => {
  it('asks for credentials with 401 and refuses a push by a reader with 403, at both steps', async (t) => {
    const { url } = await started(t, { credentials });
    const advertisement = `${url}/info/refs?service=git-receive-pack`;
    const anonymous = await fetch(advertisement);
    assert.equal(anonymous.status, 401);
    assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Basic realm=/);
    const headers = { Authorization: basic('reader:read') };
    assert.equal((await fetch(advertisement, { headers })).status, 403);
    assert.equal((await fetch(`${url}/git-receive-pack`, { method: 'POST', body: '0000', headers })).status, 403);
    assert.equal((await fetch(`${url}/info/refs?service=git-upload-pack`, { headers })).status, 200);
  });

  it('the real git clones as a reader and pushes only as a writer', { skip: WITHOUT_GIT }, async (t) => {
    const server = await started(t, { credentials });
    await server.commit({ files: { a: '1\n' }, message: 'One' });
    const as = (user: string) => server.url.replace('://', `://${user}@`);
    const git = nativeGit(await temporaryDirectory(t));
    assert.match((await git.attempt('clone', server.url, '.')).err, /could not read Username|Authentication failed/);
    await git('clone', as('reader:read'), '.');
    await git('commit', '--allow-empty', '-m', 'Two');
    assert.match((await git.attempt('push', 'origin', 'main')).err, /403/);
    await git('push', as('ada:sec%3Aret'), 'main');
    assert.equal(server.refs().get('refs/heads/main'), await git('rev-parse', 'HEAD'));
  });
});
