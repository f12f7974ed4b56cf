import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createPageCache, type Leadership } from '#reconciler/reporting/status-page/page-cache.ts';
import { createListeners, type Listener, type Listeners } from '#reconciler/reporting/status-page/serve/listeners.ts';
import { type PageServerOptions, servePage } from '#reconciler/reporting/status-page/serve/server.ts';
import { rollingFleet, passResultIn } from '../pass-results.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;
const LEADS: Leadership = { leads: true, holder: 'me' };

async function start(t: TestContext, options: Partial<PageServerOptions> = {}, leadership = LEADS, most = 10) {
  const picture = createPageCache(ABOUT, () => leadership, systemClock);
  picture.show(passResultIn(rollingFleet()));
  const listeners: Listeners = createListeners({ clock: systemClock, most, gapMs: 1, beatMs: 60_000 });
  const stop = new AbortController();
  const telling = listeners.run(stop.signal);
  const server = await servePage({
    picture,
    listeners,
    reach: 'local',
    port: 0,
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  t.after(async () => {
    stop.abort();
    await telling;
    await server.close();
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, port: server.port, listeners, picture, get: (path: string, init = {}) => fetch(`${url}${path}`, init) };
}

/** What comes back for bytes that no proper client would send. */
async function say(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let heard = '';
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
  await once(socket, 'close');
  return heard;
}

describe('the server of the page', () => {
  for (const path of ['/', '/nodes', '/nodes?state=waiting&page=9', '/pool?name=workers']) {
    it(`serves ${path} with everything that a browser is to keep from`, async (t) => {
      const { get } = await start(t);
      const answer = await get(path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'self';/);
      assert.doesNotMatch(answer.headers.get('content-security-policy') ?? '', /unsafe/);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(answer.headers.get('x-frame-options'), 'DENY');
      assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
      assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      const text = await answer.text();
      assert.doesNotMatch(text, /<script>|\son\w+=|\sstyle=|javascript:/);
    });
  }

  for (const [path, type] of [
    ['/style.css', 'text/css; charset=utf-8'],
    ['/content.css', 'text/css; charset=utf-8'],
    ['/live.js', 'text/javascript; charset=utf-8'],
    ['/icon.svg', 'image/svg+xml'],
  ] as const) {
    it(`serves ${path}`, async (t) => {
      const answer = await (await start(t)).get(path);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
    });
  }

  it('has no other page', async (t) => {
    const { get } = await start(t);
    for (const path of [
      '/pool',
      '/pool?name=none',
      '/pool?name=%3Cb%3E',
      '/metrics',
      '/../settings',
      '/%2e%2e/x',
      '/nodes/',
    ]) {
      assert.equal((await get(path)).status, 404, path);
    }
  });

  it('only shows: every other method is refused', async (t) => {
    const { get } = await start(t);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await get('/', { method });
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD'], method);
    }
  });

  it('answers HEAD as GET, without the body', async (t) => {
    const { get } = await start(t);
    const [head, whole] = [await get('/', { method: 'HEAD' }), await get('/')];
    assert.equal(await head.text(), '');
    for (const name of ['etag', 'content-length', 'content-type'])
      assert.equal(head.headers.get(name), whole.headers.get(name));
  });

  it('sends a page once to a browser that has it already, until there is another', async (t) => {
    const { get, picture } = await start(t);
    const etag = (await get('/')).headers.get('etag') ?? '';
    assert.equal((await get('/', { headers: { 'if-none-match': etag } })).status, 304);
    const simulation = rollingFleet();
    simulation.now += 1_000;
    picture.show(passResultIn(simulation));
    assert.equal((await get('/', { headers: { 'if-none-match': etag } })).status, 200);
  });

  it('never shows what was asked for, unless it could be the name of a node', async (t) => {
    const { get } = await start(t);
    for (const said of ['%3Cscript%3Ealert(1)%3C/script%3E', '%22onload=%22x', 'a%00b', '%E2%80%AE', 'x'.repeat(254)]) {
      const text = await (await get(`/nodes?node=${said}&state=${said}&page=${said}`)).text();
      assert.match(text, /name="node"\s+value=""/);
    }
    assert.match(await (await get('/nodes?node=gpu-1')).text(), /name="node"\s+value="gpu-1"/);
  });

  it('keeps to its limits: addresses, headers, and how often it is asked', async (t) => {
    const { port, get } = await start(t, { limits: { burst: 3, everyMs: 60_000 } });
    assert.match(await say(port, `GET /${'a'.repeat(3_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`), /^HTTP\/1\.1 414/);
    assert.match(
      await say(port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(9_000)}\r\n\r\n`),
      /^HTTP\/1\.1 431/,
    );
    assert.match(await say(port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400/);
    const statuses = [];
    for (let times = 0; times < 5; times += 1) statuses.push((await get('/')).status);
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  });

  it('is served on this machine under this machine’s own names only, so that no web page elsewhere can read it', async (t) => {
    const { port } = await start(t);
    assert.match(
      await say(port, 'GET / HTTP/1.1\r\nHost: evil.example.com\r\nConnection: close\r\n\r\n'),
      /^HTTP\/1\.1 421/,
    );
    assert.match(
      await say(port, `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 200/,
    );
  });

  it('is reached by any name where the cluster is to reach it', async (t) => {
    const { port } = await start(t, { reach: 'cluster' });
    assert.match(
      await say(port, 'GET / HTTP/1.1\r\nHost: status.example.com\r\nConnection: close\r\n\r\n'),
      /^HTTP\/1\.1 200/,
    );
  });

  it('owns up to a page that it cannot make, and goes on', async (t) => {
    const { get } = await start(t, {
      picture: {
        page() {
          throw new TypeError('nobody thought of this');
        },
      },
    });
    const answer = await get('/');
    assert.equal(answer.status, 500);
    assert.doesNotMatch(await answer.text(), /nobody thought/);
    assert.equal((await get('/style.css')).status, 200);
  });

  it('says who leads, where this process does not', async (t) => {
    const { get } = await start(t, {}, { leads: false, holder: 'reconciler-7d9f_1234' });
    const text = await (await get('/')).text();
    assert.match(text, /waits for its turn/);
    assert.match(text, /reconciler-7d9f_1234/);
  });
});

describe('following the page', () => {
  it('hears of every newer picture', async (t) => {
    const { get, listeners } = await start(t);
    const answer = await get('/events');
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await reader?.read())?.value ?? '', /^retry: \d+\n\nevent: news\n/);
    listeners.notify();
    assert.match((await reader?.read())?.value ?? '', /event: news\n/);
    await reader?.cancel();
  });

  it('is for so many at once; the others can still read', async (t) => {
    const { get } = await start(t, {}, LEADS, 1);
    const first = await get('/events');
    const second = await get('/events');
    assert.deepEqual([second.status, second.headers.get('retry-after')], [503, '60']);
    assert.equal((await get('/')).status, 200);
    await first.body?.cancel();
  });

  it('heaps nothing up for one that does not read, and then lets it go', async (t) => {
    const joined = Promise.withResolvers<Listener>();
    const left = Promise.withResolvers<void>();
    const { port } = await start(t, {
      listeners: {
        join(listener) {
          joined.resolve(listener);
          return () => left.resolve();
        },
      },
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const listener = await joined.promise;
    // What the systems at both ends take in before anybody has to wait is some megabytes.
    let sent = 0;
    while (listener.send(`: ${'x'.repeat(1_000_000)}\n\n`)) sent += 1;
    assert.ok(sent < 50, `${sent} MB were taken`);
    listener.drop();
    await left.promise;
    socket.destroy();
  });
});
