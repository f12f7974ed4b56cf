import assert from 'node:assert/strict';
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { createAuthority } from '../../../cluster/support/certificate-authority.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { failsWith, soon, start, type Started } from '../support/start.ts';
import { WITHOUT_GIT, WITHOUT_OPENSSL } from '../../../support/required-tools.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** A repository behind a certificate of a private authority. */
async function startPrivate(
  t: TestContext,
  host = '127.0.0.1',
): Promise<Started & { readonly directory: string; readonly caFile: string }> {
  const directory = temporaryDirectory(t);
  const authority = await createAuthority(directory);
  const { certificate, key } = await authority.issueServing('git', [host]);
  const started = await start(t, { tls: { key, cert: certificate } });
  return { ...started, directory, caFile: authority.certificateFile };
}

describeOrSkip('a repository behind a private certificate authority', { skip: WITHOUT_GIT || WITHOUT_OPENSSL }, () => {
  it('is read where the authority is given', async (t) => {
    const { repository, source, caFile, server } = await startPrivate(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source({ caFile });
    assert.equal((await git.snapshot(null, soon())).commit.oid, oid);
    await git.resolve(soon());
    server.wire();
    await git.resolve(soon());
    const { up, down } = server.wire();
    t.diagnostic(`a poll without news over TLS: ${up} bytes up, ${down} bytes down`);
    assert.ok(up + down < 1024, `${up} + ${down} bytes`);
  });

  it('is refused where the authority is unknown, with a hint', async (t) => {
    const { source } = await startPrivate(t);
    await assert.rejects(source().resolve(soon()), failsWith('GIT_UNTRUSTED', /private certificate authority/));
  });

  it('is refused under a name that its certificate does not have', async (t) => {
    const { source, caFile } = await startPrivate(t, 'git.example');
    await assert.rejects(
      source({ caFile }).resolve(soon()),
      failsWith('GIT_UNTRUSTED', /is for another name \(ERR_TLS_CERT_ALTNAME_INVALID\): use a name that it has/),
    );
  });

  it('is not left for plain http by a redirect', async (t) => {
    const { server, source, caFile } = await startPrivate(t);
    server.fault = (_, { url = '' }) => ({
      status: 302,
      headers: { location: server.origin.replace('https', 'http') + url },
    });
    await assert.rejects(source({ caFile }).resolve(soon()), failsWith('GIT_REDIRECT_REFUSED', /without encryption/));
  });

  it('is read with the new authority as soon as the file changed', async (t) => {
    const { repository, source, caFile, directory } = await startPrivate(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const other = await mkdtemp(join(directory, 'other-'));
    const mounted = join(directory, 'mounted.pem');
    await copyFile((await createAuthority(other)).certificateFile, mounted);
    const git = source({ caFile: mounted });
    await assert.rejects(git.resolve(soon()), failsWith('GIT_UNTRUSTED'));
    await copyFile(caFile, mounted);
    await git.resolve(soon());
    await copyFile(join(other, 'ca.crt'), mounted);
    await assert.rejects(git.resolve(soon()), failsWith('GIT_UNTRUSTED'), 'kept connections are not used on');
  });

  it('is not asked at all where the file of authorities is missing or garbage', async (t) => {
    const { server, source, directory } = await startPrivate(t);
    const caFile = join(directory, 'mounted.pem');
    await assert.rejects(source({ caFile }).resolve(soon()), failsWith('GIT_CA_UNREADABLE', /not there/));
    for (const text of ['', 'garbage', '-----BEGIN CERTIFICATE-----\ngarbage\n-----END CERTIFICATE-----\n']) {
      await writeFile(caFile, text);
      await assert.rejects(source({ caFile }).resolve(soon()), failsWith('GIT_CA_UNREADABLE'));
    }
    assert.equal(server.requests.length, 0);
  });
});
