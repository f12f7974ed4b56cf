import assert from 'node:assert/strict';
import { Agent, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { sendAndCollect, type Bounds, chunksOf, collectBody } from '#shared/http/body.ts';
import { sendRequest, type OutgoingRequest } from '#shared/http/send-request.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createLifetime } from '#shared/runtime/lifetime.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { hang, reset, scriptedServer, text, type Turn, playing } from '../kube/support/scripted-server.ts';
import { until } from '../../support/until.ts';
import { column } from '../../support/columns.ts';

const get = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'GET',
  url: new URL(url),
  headers: {},
  over: { agent: false },
  ...more,
});

const limit = (name: string, ms: number) => ({ ms, reason: () => new Error(`${name} took too long`) });

/** A lifetime on a clock that the test moves. */
function begin() {
  const clock = createManualClock();
  return { clock, life: createLifetime(clock, undefined, () => undefined) };
}

const UP_TO_8: Bounds = { maxBytes: 8, tooLong: () => new Error('too long') };

/** Sends the head and some of the body. */
const started =
  (begun: (response: ServerResponse) => void): Turn =>
  (response) => {
    response.write('1234', () => begun(response));
  };

describe('a request', () => {
  it('that waits for its connection ends when its lifetime is cut', async () => {
    const { life } = begin();
    // As a proxy that never opens the tunnel.
    const agent = Object.assign(new Agent(), { createConnection: () => undefined });
    const sent = sendRequest(get('http://nobody.invalid', { over: { agent } }), life);
    life.cut(new Error('the caller has left'));
    await assert.rejects(sent, /the caller has left/);
  });

  it('gets no connection for longer than its limit, and no longer than that', async () => {
    const { clock, life } = begin();
    const agent = Object.assign(new Agent(), { createConnection: () => undefined });
    const connect = limit('the connection', 100);
    const sent = sendRequest(get('http://nobody.invalid', { over: { agent }, connect }), life);
    const late = assert.rejects(sent, /the connection took too long/);
    await clock.advance(99);
    assert.equal(life.signal.aborted, false);
    await clock.advance(1);
    await late;
    assert.deepEqual(clock.sleeping(), []);
  });

  it('waits for the head of its answer for as long as silence may last', async () => {
    await using server = await playing(hang);
    const { clock, life } = begin();
    const limits = { connect: limit('the connection', 100), silence: limit('the answer', 200) };
    const late = assert.rejects(sendRequest(get(server.url, limits), life), /the answer took too long/);
    await until('it is there', () => server.seen.length === 1);
    await clock.advance(199);
    assert.equal(server.open(), 1);
    await clock.advance(1);
    await late;
    await until('its connection is gone', () => server.open() === 0);
  });

  it('is not sent under a lifetime that is over', async () => {
    await using server = await scriptedServer();
    const { life } = begin();
    life.cut(new Error('too late'));
    await assert.rejects(sendRequest(get(server.url), life), /too late/);
    assert.equal(server.accepted(), 0);
  });

  it('goes out twice over a closed connection only if the server may see it twice', async () => {
    await using server = await scriptedServer();
    const { life } = begin();
    const agent = new Agent({ keepAlive: true });
    const send = (repeatable: boolean) =>
      sendAndCollect(get(server.url, { method: 'POST', body: 'x', over: { agent }, repeatable }), life, UP_TO_8);
    server.play(text('first'), reset, text('second'), reset);
    await send(true);
    assert.equal((await send(true)).body.toString(), 'second');
    assert.deepEqual(column(server.seen, 'body'), ['x', 'x', 'x']);
    await assert.rejects(send(false), (error) => codeOf(error) === 'ECONNRESET');
    assert.equal(server.seen.length, 4);
    agent.destroy();
  });

  it('goes out again on a new connection, because what closed one that was kept closed all of them', async () => {
    await using server = await scriptedServer();
    const { life } = begin();
    const agent = new Agent({ keepAlive: true });
    const send = (repeatable: boolean) =>
      sendAndCollect(get(server.url, { over: { agent }, repeatable }), life, UP_TO_8);
    const both = Promise.withResolvers<void>();
    const together: Turn = (response) => {
      if (server.seen.length === 2) both.resolve();
      void both.promise.then(() => response.end());
    };
    for (const repeatable of [true, false]) {
      server.play(together, together);
      await Promise.all([send(true), send(true)]);
      const before = server.accepted();
      server.play(reset, text('again'));
      if (!repeatable) await assert.rejects(send(false), (error) => codeOf(error) === 'ECONNRESET');
      assert.equal((await send(repeatable)).body.toString(), 'again');
      assert.equal(server.accepted(), before + 1);
    }
    agent.destroy();
  });

  it('keeps the path that it is given, dots and all', async () => {
    await using server = await scriptedServer();
    let url: string | undefined;
    server.play((response) => {
      url = response.req.url;
      response.end();
    });
    await sendAndCollect(get(`${server.url}/from/url`, { path: '/nodes/..?a=b' }), begin().life, UP_TO_8);
    assert.equal(url, '/nodes/..?a=b');
  });

  it('over a new connection goes out once', async () => {
    await using server = await playing(reset, text('second'));
    await assert.rejects(sendRequest(get(server.url, { repeatable: true }), begin().life), { code: 'ECONNRESET' });
    assert.equal(server.seen.length, 1);
  });
});

describe('the body of an answer', () => {
  it('may be as long as its bound, and no byte longer', async () => {
    await using server = await playing(text('12345678'), text('123456789'));
    const { life } = begin();
    assert.equal((await sendAndCollect(get(server.url), life, UP_TO_8)).body.toString(), '12345678');
    await assert.rejects(sendAndCollect(get(server.url), life, UP_TO_8), /too long/);
  });

  it('is read no further than is wanted, and its connection is closed', async () => {
    await using server = await playing(started(() => undefined));
    const enough = (_: unknown, bytes: number): boolean => bytes === 4;
    const { body } = await sendAndCollect(get(server.url), begin().life, { ...UP_TO_8, enough });
    assert.equal(body.toString(), '1234');
    await until('the connection is gone', () => server.open() === 0);
  });

  it('may be silent for as long as its limit after each part, whatever the reader takes', async () => {
    await using server = await scriptedServer();
    let response: ServerResponse | undefined;
    server.play(started((begun) => (response = begun)));
    const { clock, life } = begin();
    const silence = limit('the rest', 100);
    const chunks = chunksOf(await sendRequest(get(server.url, { silence }), life), life, silence);
    assert.equal(String((await chunks.next()).value), '1234');
    await clock.advance(1000);
    const second = chunks.next();
    await clock.advance(99);
    response?.write('5678');
    assert.equal(String((await second).value), '5678');
    const third = assert.rejects(chunks.next(), /the rest took too long/);
    await clock.advance(99);
    assert.equal(life.signal.aborted, false);
    await clock.advance(1);
    await third;
    await until('the connection is gone', () => server.open() === 0);
  });

  it('ends with the reason for which its lifetime is cut', async () => {
    await using server = await scriptedServer();
    const { life } = begin();
    server.play(started(() => life.cut(new Error('the caller has left'))));
    await assert.rejects(sendAndCollect(get(server.url), life, UP_TO_8), /the caller has left/);
  });

  it('is never taken for a whole one after its lifetime was cut', async () => {
    await using server = await playing(text('1234'));
    const { life } = begin();
    const response = await sendRequest(get(server.url), life);
    await until('all of it has arrived', () => response.complete);
    life.cut(new Error('the caller has left'));
    await assert.rejects(collectBody(chunksOf(response, life), UP_TO_8), /the caller has left/);

    const broken = Readable.from([]).destroy(new Error('broken'));
    broken.on('error', () => undefined);
    await assert.rejects(collectBody(chunksOf(broken, life), UP_TO_8), /the caller has left/);
  });

  it('that breaks off is an error, and nothing is waited for any more', async () => {
    await using server = await playing(started((response) => void response.socket?.resetAndDestroy()));
    const { clock, life } = begin();
    await assert.rejects(sendAndCollect(get(server.url, { silence: limit('the rest', 100) }), life, UP_TO_8), {
      code: 'ECONNRESET',
    });
    assert.deepEqual(clock.sleeping(), []);
  });
});
