import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeError } from '#shared/runtime/log.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { failsWith, PATIENT, soon, start } from './support/start.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { column } from '../../support/columns.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function secretDirectory(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = temporaryDirectory(t);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

const basic = (user: string, secret: string): string => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;

describe('the credential in a directory', () => {
  const usable = [
    ['user and password', { username: 'ada', password: 'pw' }, basic('ada', 'pw')],
    ['space around them', { username: ' ada\n', password: 'pw\r\n' }, basic('ada', 'pw')],
    ['a token alone', { token: 'ghp_1\n' }, basic('x-access-token', 'ghp_1')],
    ['a token and the user it wants', { username: 'oauth2', token: 'glpat' }, basic('oauth2', 'glpat')],
    ['letters beyond ASCII', { username: 'ada', password: 'pässwörd' }, basic('ada', 'pässwörd')],
  ] as const;
  for (const [what, files, authorization] of usable) {
    it(`is read: ${what}`, async (t) => {
      const credential = await fileCredentials(await secretDirectory(t, files)).read();
      assert.equal(credential?.authorization, authorization);
    });
  }

  const unusable = [
    ['nothing', {}, /neither/],
    ['a password for nobody', { password: 'secret' }, /"username"/],
    ['a user alone', { username: 'ada' }, /neither/],
    ['an empty token', { token: '\n' }, /empty file "token"/],
    ['a line break in the middle', { token: 'secret\nsecret' }, /line break/],
    ['a colon in the user', { username: 'a:b', password: 'secret' }, /colon/],
  ] as const;
  for (const [what, files, message] of unusable) {
    it(`is refused, and not quoted: ${what}`, async (t) => {
      const credentials = fileCredentials(await secretDirectory(t, files));
      await assert.rejects(credentials.read(), (error) => {
        assert.doesNotMatch(inspect(error, { depth: 9 }), /secret/);
        return failsWith('GIT_CREDENTIALS_UNREADABLE', message)(error);
      });
    });
  }

  it('is refused where a file cannot be read', async (t) => {
    const directory = await secretDirectory(t, {});
    await mkdir(join(directory, 'token'));
    await assert.rejects(fileCredentials(directory).read(), failsWith('GIT_CREDENTIALS_UNREADABLE', /EISDIR/));
  });
});

describeOrSkip('a repository that asks for a credential', { skip: WITHOUT_GIT }, () => {
  it('gets it with the first request already, and with every one', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    server.access = (authorization) => (authorization === basic('ada', 'pw') ? 'read' : 'nothing');
    const directory = await secretDirectory(t, { username: 'ada', password: 'pw' });
    await source({ credentials: fileCredentials(directory) }).snapshot(null, soon());
    assert.deepEqual(column(server.requests, 'kind'), ['greeting', 'refs', 'pack']);
    await assert.rejects(source().resolve(soon()), failsWith('GIT_UNAUTHORIZED'));
  });

  it('gets the new one after a rotation', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    let right = 'old';
    server.access = (authorization) => (authorization === basic('x-access-token', right) ? 'read' : 'nothing');
    const directory = await secretDirectory(t, { token: 'old' });
    const git = source({ credentials: fileCredentials(directory) });
    await git.resolve(soon());
    right = 'new';
    await assert.rejects(git.resolve(soon()), failsWith('GIT_UNAUTHORIZED'));
    await writeFile(join(directory, 'token'), 'new\n');
    assert.equal(await git.resolve(soon()), oid);
  });
});

describeOrSkip('a credential', { skip: WITHOUT_GIT }, () => {
  it('shows up in no error, whatever the server echoes', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const secret = 'hunter2-very-secret';
    const encoded = basic('ada', secret).slice('Basic '.length);
    const echo = `denied: ${secret} ${encoded}`;
    const credentials = fileCredentials(await secretDirectory(t, { username: 'ada', password: secret }));
    const git = source({ credentials });
    const annotator = createAnnotator({
      url: server.url,
      ref: 'refs/notes/x',
      credentials,
      limits: PATIENT,
      clock: systemClock,
      random: Math.random,
    });
    const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;
    const answer = (service: string, body: string) => ({
      status: 200,
      headers: { 'content-type': `application/x-git-${service}` },
      body,
    });
    const faults = [
      { status: 403, headers: { 'content-type': 'text/plain' }, body: echo },
      { status: 500, headers: { 'content-type': 'text/plain', 'x-echo': echo }, body: echo },
      { status: 302, headers: { location: `https://ada:${secret}@elsewhere.example/?${secret}` } },
      { status: 200, headers: { 'content-type': `text/${secret}` }, body: echo },
      answer('upload-pack-advertisement', line(`ERR ${echo}\n`)),
      answer('upload-pack-result', line(`ERR ${echo}\n`)),
      answer('upload-pack-result', `${line(`\u0003${echo}`)}0000`),
      'reset' as const,
      'cut' as const,
    ];
    const seen: string[] = [];
    const note = async (work: Promise<unknown>): Promise<void> => {
      const error: unknown = await work.then(
        () => assert.fail('it has to fail'),
        (reason: unknown) => reason,
      );
      seen.push(inspect(error, { depth: 9, showHidden: true }), JSON.stringify(describeError(error)));
    };
    for (const fault of faults) {
      for (const struck of ['greeting', 'refs', 'pack', 'push-greeting', 'push'] as const) {
        server.fault = (kind) => (kind === struck ? fault : null);
        if (struck.startsWith('push')) await note(annotator.annotate(new Map([['a'.repeat(40), 'x']]), soon()));
        else {
          // Forgets the greeting, so that there is one to strike.
          await source({ credentials })
            .resolve(soon())
            .catch(() => undefined);
          await note((struck === 'greeting' ? source({ credentials }) : git).snapshot(null, soon()));
        }
      }
    }
    assert.ok(seen.length >= 90);
    const leaks = seen.filter((text) => text.includes(secret) || text.includes(encoded));
    assert.deepEqual(leaks, []);
  });
});
