import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { listen } from '#reconciler/http-server/listen.ts';

const OPTIONS = { port: 0, host: '127.0.0.1', mostConnections: 8, requestMs: 10_000 };

async function listening(t: TestContext) {
  const server = createServer((_, response) => response.end('here'));
  const { port, close } = await listen(server, OPTIONS);
  t.after(close);
  return { server, port, close };
}

describe('a server of the reconciler', () => {
  it('goes on when there is no file descriptor left for some connections', async (t) => {
    const { server, port } = await listening(t);
    for (let times = 0; times < 3; times += 1) server.emit('error', new Error('accept EMFILE'));
    assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), 'here');
  });

  it('says so where its port is taken', async (t) => {
    const { port } = await listening(t);
    await assert.rejects(listen(createServer(), { ...OPTIONS, port }), { code: 'EADDRINUSE' });
  });

  it('closes at once, whoever is still connected', async (t) => {
    const { port, close } = await listening(t);
    await (await fetch(`http://127.0.0.1:${port}`)).text();
    await close();
    await assert.rejects(fetch(`http://127.0.0.1:${port}`));
  });
});
