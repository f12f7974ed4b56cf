import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { codeOf } from '#shared/runtime/errors.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import type { GitFault, GitRequestKind } from '../../support/git-http-backend.ts';
import { failsWith, soon, start } from './support/start.ts';
import { steeredClock } from '../../support/steered-clock.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';

/** Fault → code of the error, whichever request it strikes. */
const faults: readonly (readonly [GitFault, RegExp])[] = [
  ['hang', /^GIT_TIMEOUT$/],
  ['stall', /^GIT_TIMEOUT$/],
  ['drip', /^GIT_TIMEOUT$/],
  ['cut', /^GIT_CUT$/],
  ['clean-cut', /^GIT_CUT$/],
  ['empty', /^GIT_CUT$/],
  ['reset', /^GIT_(?:UNREACHABLE|CUT)$/],
  [{ status: 500 }, /^GIT_SERVER_ERROR$/],
];

/** Those that would be waited for. */
const SILENT: ReadonlySet<GitFault> = new Set(['hang', 'stall', 'drip']);

const kinds: readonly GitRequestKind[] = ['greeting', 'refs', 'pack'];

describeOrSkip('a git server that fails', { skip: WITHOUT_GIT }, () => {
  for (const [fault, code] of faults) {
    const name = typeof fault === 'string' ? fault : JSON.stringify(fault);
    it(`(${name}) ends the call with an error, and the next one is none the worse`, async (t) => {
      const { server, repository, source } = await start(t);
      await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
      // The limits are those of production; only the waiting for them is cut short, from the fault on.
      const clock = steeredClock();
      const strike = (kind: GitRequestKind): void => {
        clock.hurry = false;
        server.fault = (at) => {
          clock.hurry = at === kind && SILENT.has(fault);
          return at === kind ? fault : null;
        };
      };
      const heal = (): void => {
        clock.hurry = false;
        server.fault = () => null;
      };
      const git = source({ clock });
      for (const kind of kinds) {
        strike(kind);
        // The greeting is remembered while all goes well: only a new source, or one that just failed, asks for it.
        const struck = kind === 'greeting' ? source({ clock }) : git;
        await assert.rejects(struck.snapshot(null, soon()), (error) => code.test(codeOf(error) ?? ''), kind);
        heal();
        assert.equal((await struck.snapshot(null, soon())).files.size, 1, kind);
      }
      const second = await repository.commitFiles({ 'base/a.yaml': 'a: 2\n' });
      strike('pack');
      await assert.rejects(git.snapshot(null, soon()), (error) => code.test(codeOf(error) ?? ''), 'a later commit');
      heal();
      assert.equal((await git.snapshot(null, soon())).commit.oid, second);
    });
  }

  it('by a single wrong bit never passes off other files as the commit’s', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n', 'base/b.yaml': randomBytes(2000).toString('hex') });
    const git = source();
    const right = await git.snapshot(null, soon());
    const steps = 25;
    let refused = 0;
    for (let step = 0; step <= steps; step += 1) {
      server.fault = (kind) => (kind === 'pack' ? { flipAt: step / steps } : null);
      try {
        assert.deepEqual(await git.snapshot(null, soon()), right, `at ${step}/${steps}`);
      } catch (error) {
        if (!isGitError(error, 'GIT_DAMAGED', 'GIT_CUT', 'GIT_NOT_GIT', 'GIT_REMOTE_ERROR')) throw error;
        refused += 1;
      }
    }
    assert.ok(refused > steps / 2, `${refused} of ${steps} were found out`);
  });

  it('by refusing the commit says so, instead of succeeding with nothing', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source();
    // The branch is forced elsewhere, and its old commit pruned, between the two requests.
    server.fault = async (kind) => {
      if (kind !== 'pack') return null;
      await repository.commitFiles({ 'base/a.yaml': 'a: 2\n' }, { parents: [] });
      await server.git('gc', '--quiet', '--prune=now');
      return null;
    };
    await assert.rejects(git.snapshot(null, soon()), failsWith('GIT_REMOTE_ERROR', /not our ref/));
    server.fault = () => null;
    assert.equal((await git.snapshot(null, soon())).files.size, 1);
  });

  it('by lacking objects says so', async (t) => {
    const { server, repository, source } = await start(t);
    const { tree, commit, setRef } = repository;
    const root = await tree([['40000', 'pools', await tree([['100644', 'a.yaml', 'b'.repeat(40)]])]]);
    await setRef('refs/heads/main', await commit({ tree: root }));
    await assert.rejects(source().snapshot(null, soon()), (error) => {
      assert.ok(isGitError(error, 'GIT_REMOTE_ERROR', 'GIT_CUT', 'GIT_DAMAGED'), String(error));
      return true;
    });
    assert.equal(server.requests.at(-1)?.kind, 'pack');
  });

  it('because it is gone is reported as unreachable', async (t) => {
    const { source } = await start(t);
    const nobody = source({ url: 'http://127.0.0.1:1/config.git' });
    await assert.rejects(nobody.resolve(soon()), failsWith('GIT_UNREACHABLE', /ECONNREFUSED/));
  });

  it('or never completes the handshake is given up on', async (t) => {
    const { source } = await start(t);
    const mute = createServer((socket) => t.after(() => socket.destroy()));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    t.after(() => mute.close());
    const clock = steeredClock();
    clock.hurry = true;
    const nobody = source({ url: `https://127.0.0.1:${(mute.address() as AddressInfo).port}/config.git`, clock });
    await assert.rejects(nobody.resolve(soon()), failsWith('GIT_TIMEOUT', /no connection within 10 s/));
  });

  it('gets no second request after the caller gave up', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const caller = new AbortController();
    server.fault = () => {
      caller.abort();
      return 'hang';
    };
    await assert.rejects(source().snapshot(null, caller.signal), failsWith('GIT_ABORTED'));
    await assert.rejects(source().snapshot(null, caller.signal), failsWith('GIT_ABORTED'));
    assert.equal(server.requests.length, 1);
  });

  it('by closing a kept connection is asked again on a new one', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const git = source();
    await git.resolve(soon());
    let resets = 0;
    server.fault = () => ((resets += 1) === 1 ? 'reset' : null);
    await git.resolve(soon());
    assert.equal(resets, 2);
  });

  it('for all answers together gets no longer than the whole call may take', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const clock = steeredClock();
    server.fault = () => {
      clock.skip(61_000);
      return null;
    };
    const git = source({ clock, limits: { idleMs: 100_000 } });
    await assert.rejects(git.snapshot(null, soon()), failsWith('GIT_TIMEOUT', /longer than 120 s/));
  });
});

describeOrSkip('a status that is no success', { skip: WITHOUT_GIT }, () => {
  const rows = [
    [401, {}, 'GIT_UNAUTHORIZED', 'retry'],
    [203, {}, 'GIT_UNAUTHORIZED', 'retry'],
    [403, {}, 'GIT_FORBIDDEN', 'retry'],
    [403, { 'retry-after': '60' }, 'GIT_THROTTLED', 'wait'],
    [404, {}, 'GIT_NOT_FOUND', 'retry'],
    [418, {}, 'GIT_REFUSED', 'retry'],
    [429, {}, 'GIT_THROTTLED', 'retry'],
    [429, { 'retry-after': '7' }, 'GIT_THROTTLED', 'wait'],
    [503, {}, 'GIT_SERVER_ERROR', 'retry'],
    [503, { 'retry-after': '7' }, 'GIT_THROTTLED', 'wait'],
  ] as const;
  for (const [status, headers, code, disposition] of rows) {
    it(`${status} ${JSON.stringify(headers)} is ${code}, and the loop is told: ${disposition}`, async (t) => {
      const { server, source } = await start(t);
      server.fault = () => ({ status, headers, body: 'so says\u001b[2J the server' });
      await assert.rejects(source().resolve(soon()), (error) => {
        assert.ok(isGitError(error, code), String(error));
        assert.equal(error.disposition.kind, disposition);
        assert.match(error.message, /so says\[2J the server$/);
        return true;
      });
    });
  }

  it('keeps the time that the server asks for', async (t) => {
    const { server, source } = await start(t);
    server.fault = () => ({ status: 429, headers: { 'retry-after': '7' } });
    await assert.rejects(source().resolve(soon()), (error) => {
      assert.ok(isGitError(error));
      assert.deepEqual(error.disposition, { kind: 'wait', ms: 7000 });
      return true;
    });
  });

  it('is judged by the media type alone, not by what stands behind it', async (t) => {
    const { server, source } = await start(t);
    const headers = { 'content-type': 'application/x-git-upload-pack-advertisement; charset=utf-8' };
    server.fault = () => ({ status: 200, headers, body: '000cERR no\n\n' });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_REMOTE_ERROR', /says: no$/));
  });

  it('that is packed is not what is asked for: whoever packs what nobody refused is told so', async (t) => {
    const { server, repository, source } = await start(t);
    const oid = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    const packed = { 'content-type': 'application/x-git-upload-pack-result', 'content-encoding': 'gzip' };
    server.fault = (_, { headers }) =>
      headers['accept-encoding'] === 'identity' ? null : { status: 200, headers: packed };
    assert.equal((await source().snapshot(null, soon())).commit.oid, oid);
  });

  it('the files of a repository on any web server are told from one that git serves', async (t) => {
    const { server, repository, source } = await start(t);
    await repository.commitFiles({ 'base/a.yaml': 'a: 1\n' });
    await server.git('update-server-info');
    const body = await readFile(join(server.git.directory, 'info', 'refs'), 'utf8');
    for (const type of ['text/plain', 'application/octet-stream']) {
      server.fault = () => ({ status: 200, headers: { 'content-type': type }, body });
      await assert.rejects(source().resolve(soon()), failsWith('GIT_NOT_GIT', /“dumb” protocol.*git http-backend/));
    }
  });

  it('for want of a client certificate, as nginx has it, says what is wanted', async (t) => {
    const { server, source } = await start(t);
    const body = '<html><head><title>400 No required SSL certificate was sent</title></head></html>';
    server.fault = () => ({ status: 400, headers: { 'content-type': 'text/html' }, body });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_UNAUTHORIZED', /tls\.crt and tls\.key/));
  });

  it('a web page is no repository', async (t) => {
    const { server, source } = await start(t);
    server.fault = () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' });
    await assert.rejects(source().resolve(soon()), failsWith('GIT_NOT_GIT', /text\/html/));
  });
});
