import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConnectionAgents } from '#reconciler/git/http/connection-agents.ts';
import { openSession } from '#reconciler/git/http/http-session.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import type { GitSession } from '#reconciler/git/wire/git-session.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { scriptedServer, type Turn } from '../../../shared/kube/support/scripted-server.ts';
import { until } from '../../../support/until.ts';
import { failsWith, soon } from '../support/start.ts';

const TYPE = { 'content-type': 'application/x-git-upload-pack-result' };

/** Answers with this, and goes on with `more` for as long as anybody listens. */
const pouring =
  (status: number, begin: string, more = ''): Turn =>
  (response) => {
    const pour = (): void => {
      if (more !== '' && !response.destroyed) response.write(more, () => setImmediate(pour));
    };
    response.writeHead(status, TYPE).write(begin, pour);
  };

async function started(...script: readonly Turn[]) {
  const server = await scriptedServer();
  server.play(...script);
  const clock = createManualClock();
  const way = await createConnectionAgents(undefined).current();
  const session = openSession({
    url: new URL(`${server.url}/config.git`),
    credential: null,
    way,
    limits: DEFAULT_GIT_LIMITS,
    clock,
    signal: soon(),
    greeting: null,
  });
  return { server, clock, session };
}

const post = (session: GitSession, take?: (chunk: Buffer) => boolean): Promise<Buffer> =>
  session.post('git-upload-pack', Buffer.from('0000'), { version: 0, maxBytes: 100_000, take });

describe('an answer of a git server', () => {
  it('is read no further than its head where that is enough', async () => {
    const { server, session } = await started(pouring(200, '0008NAK\n'));
    await using _ = server;
    let heard = '';
    const left = await post(session, (chunk) => (heard += chunk.toString()) === '0008NAK\n');
    assert.equal(heard, '0008NAK\n');
    assert.equal(left.length, 0, 'and nothing of it is held');
    await until('its connection is closed', () => server.open() === 0);
  });

  it('without success is cut short, however long it is', async () => {
    const { server, session } = await started(pouring(500, 'no', 'x'.repeat(10_000)));
    await using _ = server;
    await assert.rejects(post(session), failsWith('GIT_SERVER_ERROR'));
    await until('its connection is closed', () => server.open() === 0);
  });

  it('may be as long as it is meant to be', async () => {
    const { server, session } = await started(pouring(200, '', 'x'.repeat(10_000)));
    await using _ = server;
    await assert.rejects(post(session), failsWith('GIT_TOO_BIG', /more than the 100000 bytes/));
  });

  it('that stops half-way is given up after fifteen seconds', async () => {
    const { server, clock, session } = await started(pouring(200, '0008NAK\n'));
    await using _ = server;
    const answer = assert.rejects(post(session), failsWith('GIT_TIMEOUT', /silence for 15 s$/));
    await until('its beginning is there', () => server.seen.length === 1 && !clock.sleeping().includes(10_000));
    await clock.advance(14_999);
    assert.equal(server.open(), 1);
    await clock.advance(1);
    await answer;
    assert.deepEqual(clock.sleeping(), []);
  });
});
