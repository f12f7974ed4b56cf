import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fc } from '../../../support/property.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { fileSecrets } from '#reconciler/git/webhook/webhook-secrets.ts';
import { serveWebhook, type WebhookOptions } from '#reconciler/git/webhook/server.ts';
import { pushTo, SECRET, SENDERS } from './deliveries.ts';

async function start(t: TestContext, options: Partial<WebhookOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'webhook-'));
  const file = join(directory, 'secret');
  await writeFile(file, `${SECRET}\n`);
  let pushes = 0;
  const server = await serveWebhook({
    port: 0,
    host: '127.0.0.1',
    branch: 'main',
    secrets: fileSecrets(file),
    onPush: () => (pushes += 1),
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  t.after(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${server.port}/webhook`;
  return {
    file,
    port: server.port,
    url,
    pushes: () => pushes,
    post: (body: string, headers: Record<string, string>, to = url) => fetch(to, { method: 'POST', headers, body }),
    /** A right delivery of GitHub; each has another body. */
    push: (n: number, secret = SECRET) => {
      const body = pushTo('main', { n });
      const headers = SENDERS['GitHub']?.(body, secret, Date.now(), `id ${n}`) ?? {};
      return fetch(url, { method: 'POST', headers, body });
    },
  };
}

describe('the webhook server', () => {
  for (const [sender, sign] of Object.entries(SENDERS)) {
    it(`takes a push from ${sender}`, async (t) => {
      const { post, pushes } = await start(t);
      const body = pushTo('main');
      const answer = await post(body, sign(body, SECRET, Date.now(), 'a'));
      assert.equal(answer.status, 202);
      assert.equal(pushes(), 1);
      assert.equal((await post(body, sign(body, 'not the right secret', Date.now(), 'b'))).status, 401);
      assert.equal(pushes(), 1);
    });
  }

  it('knows one path and one method', async (t) => {
    const { url, post, pushes } = await start(t);
    assert.equal((await fetch(url)).status, 405);
    assert.equal((await post('', {}, url.replace('webhook', ''))).status, 404);
    assert.equal(pushes(), 0);
  });

  it('reads the secret again at every delivery', async (t) => {
    const { push, file, pushes } = await start(t);
    assert.equal((await push(1)).status, 202);
    await writeFile(file, `a new secret of ours\n${SECRET}\n`);
    assert.equal((await push(2)).status, 202);
    await writeFile(file, 'a new secret of ours\n');
    assert.equal((await push(3)).status, 401);
    assert.equal((await push(4, 'a new secret of ours')).status, 202);
    assert.equal(pushes(), 3);
  });

  it('lets nobody in while the secret is missing, empty or short', async (t) => {
    const { push, post, file, pushes } = await start(t);
    for (const [n, text] of ['', '\n\n', 'short'].entries()) {
      await writeFile(file, text);
      assert.equal((await push(n, text.trim())).status, 503);
    }
    await rm(file);
    assert.equal((await push(9)).status, 503);
    assert.equal((await post('', { 'x-gitlab-token': '' })).status, 503);
    assert.equal(pushes(), 0);
  });

  it('refuses what is too long, whether its length was announced or not', async (t) => {
    const { port, post, pushes } = await start(t, { limits: { bodyBytes: 1_000 } });
    assert.equal((await post('x'.repeat(1_001), {})).status, 413);
    const chunked = httpRequest({ port, host: '127.0.0.1', path: '/webhook', method: 'POST' });
    chunked.on('error', () => undefined);
    chunked.write('x'.repeat(600));
    chunked.write('x'.repeat(600));
    const [response] = await once(chunked, 'response');
    assert.equal(response.statusCode, 413);
    chunked.destroy();
    assert.equal(pushes(), 0);
  });

  it('answers too many requests with a pause, and goes on after it', async (t) => {
    let at = 0;
    const clock = { ...systemClock, monotonic: () => at };
    const { push, pushes } = await start(t, { clock, limits: { burst: 3, everyMs: 2_000 } });
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const answer = await push(n);
      statuses.push(answer.status);
      if (answer.status === 429) assert.equal(answer.headers.get('retry-after'), '2');
    }
    assert.deepEqual(statuses, [202, 202, 202, 429, 429]);
    at += 2_000;
    assert.equal((await push(10)).status, 202);
    assert.equal(pushes(), 4);
  });

  it('gives up on a sender who does not come to an end', async (t) => {
    const { port, push } = await start(t, { limits: { requestMs: 200 } });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc');
    await once(socket.resume(), 'close');
    assert.equal((await push(1)).status, 202);
  });

  it('survives any bytes on the wire, and none of them is a push', async (t) => {
    const { port, push, pushes } = await start(t, { limits: { burst: 10_000 } });
    const head = fc.constantFrom(
      'POST /webhook HTTP/1.1\r\n',
      'POST /webhook HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: ',
      'POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n',
      'POST /webhook HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n',
      '',
    );
    await fc.assert(
      fc.asyncProperty(head, fc.uint8Array({ maxLength: 300 }), async (first, bytes) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.end(Buffer.concat([Buffer.from(first), Buffer.from(bytes)]));
        await once(socket.resume(), 'close');
      }),
      { numRuns: 300 },
    );
    assert.equal(pushes(), 0);
    assert.equal((await push(1)).status, 202);
  });
});
