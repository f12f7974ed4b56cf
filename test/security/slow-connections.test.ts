import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { serveMetrics } from '#agent/metrics/metrics-server.ts';
import { fileSecrets } from '#reconciler/git/webhook/webhook-secrets.ts';
import { serveWebhook } from '#reconciler/git/webhook/server.ts';
import { serveHealth, serveReconcilerMetrics } from '#reconciler/reporting/health-and-metrics-server.ts';
import { listen } from '#reconciler/http-server/listen.ts';
import { createListeners } from '#reconciler/reporting/status-page/serve/listeners.ts';
import { servePage } from '#reconciler/reporting/status-page/serve/server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../support/until.ts';

const place = { port: 0, host: '127.0.0.1' } as const;
const ports = { clock: systemClock, log: silentLog } as const;
/** What a request may take to arrive, by production's limits. */
const LONGEST_MS = 10_000;
const HERE_MS = 100;
/** An answer has to be read within two of these. */
const LONGEST_READING_MS = 15_000;
/** Node by itself looks for slow requests every 30 seconds: that would be too late. */
const CUT_WITHIN_MS = 20_000;

/** More than the kernel keeps for a connection. */
const LONG = 'x'.repeat(32 * 1024 * 1024);

type Start = (t: TestContext) => Promise<number>;

const closed = async (t: TestContext, server: Promise<{ readonly port: number; close(): Promise<void> }>) => {
  const { port, close } = await server;
  t.after(close);
  return port;
};

/** Every server of both programs, by the file that makes it. */
const SERVERS: Readonly<Record<string, readonly Start[]>> = {
  'reconciler/reporting/health-and-metrics-server.ts': [
    (t) => closed(t, serveHealth({ ...place, view: { live: () => true, ready: () => true } })),
    (t) =>
      closed(
        t,
        serveReconcilerMetrics({
          ...place,
          ...ports,
          metrics: { contentType: 'text/plain', text: () => Promise.resolve(LONG) },
        }),
      ),
  ],
  'reconciler/git/webhook/server.ts': [
    (t) =>
      closed(
        t,
        serveWebhook({ ...place, ...ports, branch: 'main', secrets: fileSecrets('/none'), onPush: () => undefined }),
      ),
  ],
  'reconciler/reporting/status-page/serve/server.ts': [
    (t) => {
      const listeners = createListeners({ clock: systemClock, most: 1 } as never);
      const picture = { page: () => ({ body: LONG, etag: '""' }) } as never;
      return closed(t, servePage({ ...ports, port: 0, reach: 'local', picture, listeners }));
    },
  ],
  'agent/metrics/metrics-server.ts': [
    (t) => {
      const stop = new AbortController();
      t.after(() => stop.abort());
      return new Promise((onListening) => {
        void serveMetrics({ ...place, ...ports, text: () => LONG, random: () => 0, onListening }, stop.signal);
      });
    },
  ],
};

describe('a connection that does not come to an end', () => {
  for (const [file, starts] of Object.entries(SERVERS)) {
    for (const [index, start] of starts.entries()) {
      it(`is cut in time by ${file}, server ${index + 1}`, async (t) => {
        const { listen: original } = Server.prototype;
        t.mock.method(Server.prototype, 'listen', function hurried(this: Server, ...args: Parameters<typeof original>) {
          for (const limit of ['requestTimeout', 'headersTimeout'] as const) {
            assert.ok(this[limit] > 0 && this[limit] <= LONGEST_MS, `${limit} is ${this[limit]}`);
            this[limit] = HERE_MS;
          }
          return original.apply(this, args);
        });
        const port = await start(t);
        const signal = AbortSignal.timeout(CUT_WITHIN_MS);
        const cut = [
          '',
          'GET / HTTP/1.1\r\nhost: x\r\n',
          'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nab',
        ].map(async (half) => {
          const socket = connect(port, '127.0.0.1');
          socket.on('error', () => undefined);
          if (half !== '') socket.write(half);
          await once(socket.resume(), 'close', { signal });
        });
        await Promise.all(cut);
      });

      it(`is cut where nobody reads what ${file}, server ${index + 1}, answers`, async (t) => {
        const timeout = AbortSignal.timeout.bind(AbortSignal);
        const limits: number[] = [];
        t.mock.method(AbortSignal, 'timeout', (ms: number) => {
          limits.push(ms);
          return timeout(HERE_MS);
        });
        const { listen: original } = Server.prototype;
        const servers: Server[] = [];
        t.mock.method(Server.prototype, 'listen', function known(this: Server, ...args: Parameters<typeof original>) {
          servers.push(this);
          return original.apply(this, args);
        });
        const port = await start(t);
        for (const path of ['/', '/metrics', '/healthz', '/webhook']) {
          const socket = connect(port, '127.0.0.1');
          t.after(() => socket.destroy());
          socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
          await once(socket, 'readable', { signal: timeout(CUT_WITHIN_MS) });
        }
        // Whoever does not read hears of no end: the server's own count is asked.
        const [server] = servers;
        assert.ok(server !== undefined);
        const count = promisify(server.getConnections.bind(server));
        await until('no connection is left', async () => (await count()) === 0, {
          withinMs: CUT_WITHIN_MS,
          everyMs: 20,
        });
        assert.ok(limits.every((ms) => ms <= LONGEST_READING_MS));
      });
    }
  }

  it('costs nothing that is kept for each request: a flood of them would fill the memory', async (t) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    let timers = 0;
    t.mock.method(AbortSignal, 'timeout', () => {
      timers += 1;
      return timeout(60_000);
    });
    const refs: WeakRef<ServerResponse>[] = [];
    const server = createServer((_request, response) => {
      refs.push(new WeakRef(response));
      response.end('x');
    });
    const { port, close } = await listen(server, { ...place, mostConnections: 10, requestMs: LONGEST_MS });
    t.after(close);
    for (let count = 0; count < 100; count += 1) await (await fetch(`http://127.0.0.1:${port}/`)).text();
    assert.equal(refs.length, 100);
    assert.equal(timers, 1);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await until('the answers are gone', () => {
      collect();
      return refs.filter((ref) => ref.deref() !== undefined).length < 10;
    });
  });

  it('holds as many requests as fit into a packet, for one text of metrics and one answer', async (t) => {
    const stopped = { ...ports, clock: { ...systemClock, monotonic: () => 0 } };
    let texts = 0;
    const text = (): string => `made ${(texts += 1)} times\n`;
    const stop = new AbortController();
    t.after(() => stop.abort());
    const metrics = { contentType: 'text/plain', text: () => Promise.resolve(text()) };
    const reconciler = await closed(t, serveReconcilerMetrics({ ...place, ...stopped, metrics }));
    const agent = await new Promise<number>((onListening) => {
      void serveMetrics({ ...place, ...stopped, text, random: () => 0, onListening }, stop.signal);
    });
    for (const port of [reconciler, agent]) {
      texts = 0;
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined).write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1_000));
      let heard = '';
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
      await once(socket, 'close', { signal: AbortSignal.timeout(CUT_WITHIN_MS) });
      assert.equal(texts, 1);
      assert.equal(heard.split('made 1 times').length - 1, 1, heard.slice(0, 2_000));
    }
  });

  it('is looked at on every server that there is', () => {
    const made = globSync('{agent,reconciler,shared}/**/*.ts').filter((file) => {
      const text = readFileSync(file, 'utf8');
      return text.includes("from 'node:http'") && /\bcreateServer\(/.test(text);
    });
    assert.deepEqual(made.sort(), Object.keys(SERVERS).sort());
    for (const [file, starts] of Object.entries(SERVERS)) {
      const calls = readFileSync(file, 'utf8').match(/\bcreateServer\(/g) ?? [];
      assert.equal(calls.length, starts.length, file);
    }
  });
});
