import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConnectionAgents } from '#reconciler/git/http/connection-agents.ts';
import { createForgeClient } from '#reconciler/reporting/forge/forge-client.ts';
import { isForgeError } from '#reconciler/reporting/forge/errors.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { hang, json, reset, scriptedServer, playing } from '../../../shared/kube/support/scripted-server.ts';

const never = new AbortController().signal;

const asking = (timeoutMs = 60_000, token = '') =>
  createForgeClient({
    connections: createConnectionAgents(undefined),
    token: () => token,
    clock: systemClock,
    timeoutMs,
  });

const failsWith = (message: RegExp) => (error: unknown) =>
  isForgeError(error, 'FORGE_UNREACHABLE') && message.test(error.message);

describe('asking a forge', () => {
  it('asks again over a new connection, but posts no status twice', async () => {
    await using server = await playing(json([]), reset, json([1]), reset);
    const ask = asking();
    const list = { method: 'GET', url: `${server.url}/list`, headers: {} } as const;
    await ask(list, never);
    assert.deepEqual(await ask(list, never), [1]);
    const post = { method: 'POST', url: `${server.url}/status`, headers: {}, body: { state: 'success' } } as const;
    await assert.rejects(ask(post, never), failsWith(/ECONNRESET/));
    assert.deepEqual(
      server.seen.map(({ method, body }) => method + body),
      ['GET', 'GET', 'GET', 'POST{"state":"success"}'],
    );
  });

  it('passes on what the forge says, but not the token in it', async () => {
    await using server = await playing(json({ message: 'no rights for hush-hush-1, as hush-hush-1 was revoked' }, 422));
    const list = { method: 'GET', url: server.url, headers: {} } as const;
    const error = await asking(60_000, 'hush-hush-1')(list, never).then(
      () => assert.fail('it was refused'),
      (reason: unknown) => String(reason),
    );
    assert.match(error, /no rights for/);
    assert.doesNotMatch(error, /hush-hush/);
  });

  it('reads no more than two megabytes of what it says', async () => {
    await using server = await scriptedServer();
    const text = (length: number): string => 'x'.repeat(length - '""'.length);
    server.play(json(text(2 * 1024 * 1024)), json(text(2 * 1024 * 1024 + 1)));
    const list = { method: 'GET', url: server.url, headers: {} } as const;
    assert.equal(String(await asking()(list, never)).length, 2 * 1024 * 1024 - 2);
    await assert.rejects(asking()(list, never), (error) => isForgeError(error, 'FORGE_UNREADABLE'));
  });

  it('that does not answer is given up in time, or with its caller', async () => {
    await using server = await playing(hang);
    const list = { method: 'GET', url: server.url, headers: {} } as const;
    await assert.rejects(asking(20)(list, never), failsWith(/no complete answer within 0\.02 s/));
    await assert.rejects(asking()(list, AbortSignal.abort()), failsWith(/called off/));
  });
});
