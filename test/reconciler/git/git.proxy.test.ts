import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { readReconcilerSettings } from '#reconciler/settings.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { until } from '../../support/until.ts';
import { createAuthority } from '../../cluster/support/certificate-authority.ts';
import { startHttpProxy } from '../../support/http-proxy.ts';
import { WITHOUT_GIT, WITHOUT_OPENSSL } from '../../support/required-tools.ts';
import { failsWith, soon, start } from './support/start.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HOST = 'git.example.test';
const portOf = (origin: string): number => Number(new URL(origin).port);
const only = (http: string | undefined, https: string | undefined) => ({ http, https, except: '' });

describeOrSkip('a repository behind a proxy', { skip: WITHOUT_GIT || WITHOUT_OPENSSL }, () => {
  it('is read over https through a tunnel, which shows the proxy a name and no credential', async (t) => {
    const directory = temporaryDirectory(t);
    const authority = await createAuthority(directory);
    const { certificate, key } = await authority.issueServing('git', [HOST]);
    const { server, repository, source } = await start(t, { tls: { key, cert: certificate } });
    const proxy = await startHttpProxy(t, { to: portOf(server.origin), password: 'ada:p@ss word' });
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    await writeFile(join(directory, 'token'), 'secret-of-git\n');
    const git = source({
      url: `https://${HOST}/config.git`,
      caFile: authority.certificateFile,
      credentials: fileCredentials(directory),
      proxy: only(undefined, `http://ada:p%40ss%20word@${proxy.host}`),
    });
    assert.equal((await git.snapshot(null, soon())).commit.oid, oid);
    assert.equal(await git.resolve(soon()), oid);
    assert.deepEqual(proxy.asked, [`CONNECT ${HOST}:443`], 'the tunnel is kept');
    assert.doesNotMatch(proxy.heard.join(), /"authorization"/);
    assert.match(server.requests[0]?.authorization ?? '', /^Basic /);
  });

  it('is read over http, where the proxy is handed whole requests', async (t) => {
    const { server, repository, source } = await start(t);
    const proxy = await startHttpProxy(t, { to: portOf(server.origin) });
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source({ url: `http://${HOST}/config.git`, proxy: only(`http://${proxy.host}`, undefined) });
    assert.equal((await git.snapshot(null, soon())).commit.oid, oid);
    assert.match(proxy.asked[0] ?? '', new RegExp(`^GET http://${HOST}/config.git/info/refs`));
  });

  it('is out of reach where the proxy is away or wants another password, which no message repeats', async (t) => {
    const { server, source } = await start(t);
    const proxy = await startHttpProxy(t, { to: portOf(server.origin), password: 'ada:right' });
    const wrong = `http://ada:guessed@${proxy.host}`;
    const errorOf = async (url: string, http: string): Promise<string> => {
      const asking = source({ url, proxy: only(http, http) }).resolve(soon());
      return asking.then(String, (error: unknown) => `${String(error)} ${JSON.stringify(error)}`);
    };
    const said = [
      await errorOf(`https://${HOST}/config.git`, wrong),
      await errorOf(`http://${HOST}/config.git`, wrong),
      await errorOf(`https://${HOST}/config.git`, 'http://ada:guessed@127.0.0.1:1'),
    ];
    assert.match(said[0] ?? '', new RegExp(`no answer from ${HOST} through the proxy ${proxy.host} \\(status 407\\)`));
    assert.match(said[1] ?? '', /the proxy on the way wants a credential, or another one \(status 407\)/);
    assert.match(said[2] ?? '', /through the proxy 127\.0\.0\.1:1 \(ECONNREFUSED\)/);
    assert.doesNotMatch(said.join(), /guessed/);
  });

  it('that hangs is given up on, and no connection stays behind', async (t) => {
    const { source } = await start(t);
    const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const proxy = `http://127.0.0.1:${port}`;
    const open = new Set<Socket>();
    silent.on('connection', (socket: Socket) => open.add(socket.once('close', () => open.delete(socket))));
    for (const scheme of ['http', 'https']) {
      const git = source({
        url: `${scheme}://${HOST}/config.git`,
        proxy: only(proxy, proxy),
        limits: { connectMs: 200, idleMs: 200 },
      });
      await assert.rejects(git.resolve(soon()), failsWith('GIT_TIMEOUT'));
    }
    await until('no connection', () => Promise.resolve(open.size === 0), { everyMs: 50 });
  });
});

describe('the proxy of the settings', () => {
  it('is the operator’s word, and a proxy that is none is a mistake that repeats no password', () => {
    const env = { CLUSTER: 'prod', GIT_URL: 'https://git.example.com/x.git' };
    const read = readReconcilerSettings({ ...env, HTTPS_PROXY: 'http://a:b@proxy:3128', NO_PROXY: '.svc' });
    assert.deepEqual(read.proxy, { http: undefined, https: 'http://a:b@proxy:3128/', except: '.svc' });
    for (const wrong of ['ftp://u:hidden@proxy:21', 'http://u:hidden@:99999', '//hidden']) {
      assert.throws(
        () => readReconcilerSettings({ ...env, HTTPS_PROXY: wrong }),
        (error: Error) =>
          /HTTPS_PROXY is not the address of a proxy/.test(error.message) && !/hidden/.test(error.message),
      );
    }
  });
});
