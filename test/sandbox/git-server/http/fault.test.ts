import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listServerRefs } from 'isomorphic-git';
import * as http from 'isomorphic-git/http/node';
import { codeOf } from '#shared/runtime/errors.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from '../support/native-git.ts';
import { until } from '../../../support/until.ts';
import { started } from '../support/started.ts';

const REFS = 'info/refs?service=git-upload-pack';
const listed = (url: string) => listServerRefs({ http, url, prefix: 'refs/heads/' });

describe('a server that was told to fail', () => {
  it('closes connections when it is to be unreachable, and works again afterwards', async (t) => {
    const server = await started(t);
    await server.commit({ files: { a: '1\n' }, message: 'One' });
    await listed(server.url);
    server.setFault({ kind: 'unreachable' });
    await assert.rejects(listed(server.url), (error) => /^(ECONNRESET|EPIPE)$/.test(codeOf(error) ?? ''));
    server.setFault(null);
    assert.equal((await listed(server.url)).length, 1);
  });

  it('takes a request and does not answer when it is to hang, until it is told otherwise', async (t) => {
    const server = await started(t);
    server.setFault({ kind: 'hang', at: 'fetch' });
    let settled = false;
    const hanging = fetch(`${server.url}/git-upload-pack`, { method: 'POST', body: '0000' }).finally(() => {
      settled = true;
    });
    const failed = assert.rejects(hanging);
    await until('the request is there', () => server.requests() > 0);
    for (let round = 0; round < 3; round += 1) assert.equal((await fetch(`${server.url}/${REFS}`)).status, 200);
    assert.equal(settled, false);
    server.setFault(null);
    await failed;
    assert.equal((await fetch(`${server.url}/git-upload-pack`, { method: 'POST', body: '0000' })).status, 200);
  });

  it('stops even while requests hang', async () => {
    const server = await startGitServer();
    server.setFault({ kind: 'hang' });
    const failed = assert.rejects(fetch(`${server.url}/${REFS}`));
    await until('the request is there', () => server.requests() > 0);
    await server.stop();
    await failed;
  });

  it('answers with status 500', async (t) => {
    const server = await started(t);
    server.setFault({ kind: 'status-500' });
    assert.equal((await fetch(`${server.url}/${REFS}`)).status, 500);
  });

  it('cuts the answer in half', async (t) => {
    const server = await started(t);
    await server.commit({ files: { a: '1\n' }, message: 'One' });
    server.setFault({ kind: 'cut' });
    const response = await fetch(`${server.url}/${REFS}`);
    assert.equal(response.status, 200);
    await assert.rejects(response.arrayBuffer());
  });

  it('fails only at the step that was named', { skip: WITHOUT_GIT }, async (t) => {
    const server = await started(t);
    const tip = await server.commit({ files: { a: '1\n' }, message: 'One' });
    const git = nativeGit(await temporaryDirectory(t));
    server.setFault({ kind: 'status-500', at: 'push' });
    await git('clone', server.url, '.');
    await git('commit', '--allow-empty', '-m', 'Two');
    assert.match((await git.attempt('push', 'origin', 'main')).err, /500/);
    assert.equal(server.refs().get('refs/heads/main'), tip);
    server.setFault({ kind: 'cut', at: 'fetch' });
    assert.notEqual((await git.attempt('fetch')).code, 0);
    server.setFault(null);
    await git('push', 'origin', 'main');
  });

  it('does what a push asks before it cuts the answer: the pusher cannot know', { skip: WITHOUT_GIT }, async (t) => {
    const server = await started(t);
    await server.commit({ files: { a: '1\n' }, message: 'One' });
    const git = nativeGit(await temporaryDirectory(t));
    await git('clone', server.url, '.');
    await git('commit', '--allow-empty', '-m', 'Two');
    server.setFault({ kind: 'cut', at: 'push' });
    assert.notEqual((await git.attempt('push', 'origin', 'main')).code, 0);
    assert.equal(server.refs().get('refs/heads/main'), await git('rev-parse', 'HEAD'));
  });
});
