import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isGitError } from '#reconciler/git/errors.ts';
import { followRedirect } from '#reconciler/git/http/redirect.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { failsWith, soon, start } from '../support/start.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';

const from = new URL('https://git.example/team/config.git/info/refs?service=git-upload-pack');
const QUERY = '?service=git-upload-pack';

describe('where a redirect leads', () => {
  const followed = [
    ['another path', `https://git.example/moved/config.git/info/refs${QUERY}`],
    ['a path alone', `/moved/config.git/info/refs${QUERY}`],
  ] as const;
  for (const [what, location] of followed) {
    it(`${what} on the same host is followed`, () => {
      assert.equal(followRedirect(from, location).href, `https://git.example/moved/config.git/info/refs${QUERY}`);
    });
  }

  it('https instead of http on the same host is followed', () => {
    const plain = new URL(from.href.replace('https', 'http'));
    assert.equal(followRedirect(plain, from.href).href, from.href);
  });

  const refused = [
    ['another host', `https://evil.example/team/config.git/info/refs${QUERY}`],
    ['another host that looks alike', `https://git.example.evil.example/team/config.git/info/refs${QUERY}`],
    ['another port', `https://git.example:8443/team/config.git/info/refs${QUERY}`],
    ['http instead of https', `http://git.example/team/config.git/info/refs${QUERY}`],
    ['another scheme', `ftp://git.example/team/config.git/info/refs${QUERY}`],
    ['an address with a credential', `https://a:b@git.example/team/config.git/info/refs${QUERY}`],
    ['a page to sign in', 'https://git.example/users/sign_in'],
    ['another service', 'https://git.example/team/config.git/info/refs?service=git-receive-pack'],
    ['nothing', 'https://'],
    ['nowhere', undefined],
  ] as const;
  for (const [what, location] of refused) {
    it(`${what} is refused`, () => {
      assert.throws(
        () => followRedirect(from, location),
        (error) => isGitError(error, 'GIT_REDIRECT_REFUSED'),
      );
    });
  }
});

describeOrSkip('a server that redirects', { skip: WITHOUT_GIT }, () => {
  for (const status of [301, 302, 303, 307, 308]) {
    it(`with ${status} is followed once per call, and asked for the rest at the new place`, async (t) => {
      const { server, repository, source } = await start(t);
      const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
      server.fault = (_, { url = '' }) =>
        url.startsWith('/old/') ? { status, headers: { location: url.replace('/old/', '/') } } : null;
      const git = source({ url: `${server.origin}/old/config.git` });
      assert.equal((await git.snapshot(null, soon())).commit.oid, oid);
      await git.resolve(soon());
      assert.deepEqual(
        server.requests.map(({ url }) => url.split('/')[1]),
        ['old', 'config.git', 'config.git', 'config.git', 'config.git'],
      );
    });
  }

  it('in circles is given up on', async (t) => {
    const { server, source } = await start(t);
    server.fault = (_, { url = '' }) => ({ status: 302, headers: { location: url } });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_REDIRECT_REFUSED', /more than 5/));
    assert.ok(server.requests.length <= 6);
  });

  it('to another host never shows it the credential', async (t) => {
    const { server, source } = await start(t);
    const other = await start(t);
    server.fault = (_, { url = '' }) => ({ status: 302, headers: { location: other.server.origin + url } });
    const credentials = { read: () => Promise.resolve({ authorization: 'Basic c2VjcmV0', secrets: [] }) };
    await assert.rejects(source({ credentials }).resolve(soon()), failsWith('GIT_REDIRECT_REFUSED', /another host/));
    assert.deepEqual(other.server.requests, []);
  });

  it('a request with a body is not followed, and found at its new place by the next call', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source({ url: `${server.origin}/old/config.git` });
    // At first both addresses work.
    server.fault = (_, request) => {
      request.url = request.url?.replace('/old/', '/') ?? '';
      return null;
    };
    await git.resolve(soon());
    server.fault = (_, { url = '' }) =>
      url.startsWith('/old/') ? { status: 308, headers: { location: url.replace('/old/', '/') } } : null;
    await assert.rejects(git.resolve(soon()), failsWith('GIT_REDIRECT_REFUSED'));
    assert.equal(await git.resolve(soon()), oid);
  });
});
