import assert from 'node:assert/strict';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { createAuthority, type Identity } from '../../../cluster/support/certificate-authority.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT, WITHOUT_OPENSSL } from '../../../support/required-tools.ts';
import { startHttpProxy } from '../../../support/http-proxy.ts';
import { failsWith, soon, start } from '../support/start.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const HOST = 'git.example.test';

/** A server that talks only to who shows a certificate of its authority, and a stranger's authority. */
async function begin(t: TestContext) {
  const directory = temporaryDirectory(t);
  const [ours, theirs, secret] = ['ours', 'theirs', 'secret'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([ours, theirs, secret].map((path) => mkdir(path)));
  const [authority, strangers] = await Promise.all([createAuthority(ours), createAuthority(theirs)]);
  const { certificate: cert, key } = await authority.issueServing('git', ['127.0.0.1', HOST]);
  const [known, stranger] = await Promise.all(
    [authority, strangers].map((each) => each.issue({ commonName: 'kubelet-gitops' })),
  );
  assert.ok(known !== undefined && stranger !== undefined);
  const started = await start(t, { tls: { key, cert, ca: authority.certificate, requestCert: true } });
  await started.repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
  return {
    ...started,
    known,
    stranger,
    secret,
    mounted: { caFile: authority.certificateFile, credentials: fileCredentials(secret) },
    async mount(identity: Identity): Promise<void> {
      await copyFile(identity.certificateFile, join(secret, 'tls.crt'));
      await copyFile(identity.keyFile, join(secret, 'tls.key'));
    },
  };
}

describeOrSkip('a git server that asks for a certificate', { skip: WITHOUT_GIT || WITHOUT_OPENSSL }, () => {
  it('is shown the one in the directory of credentials, alone or beside a token, and the new one after a change', async (t) => {
    const { server, source, mounted, mount, known, stranger, secret } = await begin(t);
    const git = source(mounted);
    await mount(stranger);
    // Some say why, others hang up.
    const refused = (error: unknown): boolean => isGitError(error, 'GIT_UNAUTHORIZED', 'GIT_UNREACHABLE');
    await assert.rejects(git.resolve(soon()), refused);
    await mount(known);
    await git.snapshot(null, soon());
    await writeFile(join(secret, 'token'), 'ghp_1\n');
    await git.resolve(soon());
    assert.match(server.requests.at(-1)?.authorization ?? '', /^Basic /);
    await mount(stranger);
    await assert.rejects(git.resolve(soon()), refused, 'kept connections are not used on');
  });

  it('is shown it through a proxy as well, which is shown nothing', async (t) => {
    const { server, source, mounted, mount, known } = await begin(t);
    const proxy = await startHttpProxy(t, { to: Number(new URL(server.origin).port) });
    await mount(known);
    const way = { http: undefined, https: `http://${proxy.host}`, except: '' };
    await source({ ...mounted, url: `https://${HOST}/config.git`, proxy: way }).snapshot(null, soon());
    assert.deepEqual(proxy.asked, [`CONNECT ${HOST}:443`]);
  });

  it('says so where there is none, and half a pair or a foreign key is a mistake that quotes nothing', async (t) => {
    const { source, mounted, mount, known, stranger, secret } = await begin(t);
    const { caFile } = mounted;
    await assert.rejects(source({ caFile }).resolve(soon()), failsWith('GIT_UNAUTHORIZED', /tls\.crt and tls\.key/));
    await mount(known);
    await rm(join(secret, 'tls.key'));
    await assert.rejects(source(mounted).resolve(soon()), failsWith('GIT_CREDENTIALS_UNREADABLE', /not both/));
    await copyFile(stranger.keyFile, join(secret, 'tls.key'));
    await assert.rejects(source(mounted).resolve(soon()), failsWith('GIT_CREDENTIALS_UNREADABLE', /does not belong/));
    await writeFile(join(secret, 'tls.key'), '-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n');
    await assert.rejects(source(mounted).resolve(soon()), (error) => {
      assert.doesNotMatch(String(error), /secret\n/);
      return failsWith('GIT_CREDENTIALS_UNREADABLE', /not PEM/)(error);
    });
  });
});
