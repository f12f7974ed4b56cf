import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { WatchStart, WatchEvent } from '#shared/kube/kube.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { events, hang, node, reset, scriptedServer, status, stream, text, playing } from './support/scripted-server.ts';
import { AT_NODES, collect, kubeFor, refusalOf } from './support/test-kube.ts';
import { until } from '../../support/until.ts';

const SINCE_5: WatchStart = { version: '5', lastsMs: 300_000 };
const never = new AbortController().signal;
const added = (name: string, version: string, more = {}) => ({ type: 'ADDED', object: node(name, version, more) });
const line = (event: unknown): string => `${JSON.stringify(event)}\n`;

/** A watch whose stream the test writes to. */
async function openWatch(options: Parameters<typeof kubeFor>[1] = {}, signal: AbortSignal = never) {
  const server = await scriptedServer();
  let response: ServerResponse | undefined;
  server.play(stream((started) => (response = started)));
  const iterator = kubeFor(server, options).watch(AT_NODES, SINCE_5, signal)[Symbol.asyncIterator]();
  const first = iterator.next();
  await until('the watch is open', () => response !== undefined);
  return {
    server,
    first,
    next: () => iterator.next(),
    leave: () => iterator.return?.(),
    write: (bytes: string | Buffer) => response?.write(bytes),
    cut: () => response?.socket?.resetAndDestroy(),
    end: () => response?.end(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await first.catch(() => undefined);
      await iterator.return?.();
    },
  };
}

const value = async (next: Promise<IteratorResult<WatchEvent<KubeObject>>>) => (await next).value as unknown;

describe('a watch', () => {
  it('asks for bookmarks, for a version and for an end', async () => {
    await using server = await playing(events(), events());
    await collect(
      kubeFor(server).watch(
        { ...AT_NODES, fieldSelector: 'metadata.name=a' },
        { version: '5', lastsMs: 299_001 },
        never,
      ),
    );
    await collect(kubeFor(server).watch(AT_NODES, { version: '6', lastsMs: 0 }, never));
    const [first, second] = server.seen.map(({ url }) => Object.fromEntries(url.searchParams));
    assert.deepEqual(first, {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '5',
      timeoutSeconds: '300',
      fieldSelector: 'metadata.name=a',
    });
    assert.equal(second?.['timeoutSeconds'], '1');
  });

  it('tells what happens and ends quietly when the server ends it', async () => {
    await using server = await scriptedServer();
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } };
    const deleted = { type: 'DELETED', object: node('a', '8') };
    server.play(events(added('a', '6'), { type: 'MODIFIED', object: node('a', '7') }, deleted, bookmark));
    assert.deepEqual(await collect(kubeFor(server).watch(AT_NODES, SINCE_5, never)), [
      added('a', '6'),
      { type: 'MODIFIED', object: node('a', '7') },
      deleted,
      { type: 'BOOKMARK', resourceVersion: '9' },
    ]);
  });

  it('gives its connection back when it ends cleanly', async () => {
    await using server = await playing(events(), events(), events());
    const kube = kubeFor(server);
    for (let turn = 0; turn < 3; turn += 1) await collect(kube.watch(AT_NODES, SINCE_5, never));
    assert.equal(server.accepted(), 1);
  });

  it('puts a character together that was split over chunks', async () => {
    await using watch = await openWatch();
    const bytes = Buffer.from(line(added('a', '6', { note: 'grün 🟢' })));
    for (const byte of bytes) {
      watch.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await value(watch.first), added('a', '6', { note: 'grün 🟢' }));
  });

  it('delivers an event as soon as its line is complete', async () => {
    await using watch = await openWatch();
    watch.write(line(added('a', '6')) + line(added('b', '7')).slice(0, 20));
    assert.deepEqual(await value(watch.first), added('a', '6'));
    const second = watch.next();
    watch.write(line(added('b', '7')).slice(20));
    assert.deepEqual(await value(second), added('b', '7'));
  });

  it('that is cut in the middle of a line ends with KUBE_UNREACHABLE', async () => {
    await using watch = await openWatch();
    watch.write(line(added('a', '6')) + '{"type":"ADD');
    assert.deepEqual(await value(watch.first), added('a', '6'));
    const next = refusalOf(watch.next());
    watch.cut();
    const error = await next;
    assert.equal(error.code, 'KUBE_UNREACHABLE');
    assert.equal(error.message, 'cannot watch nodes: the connection broke (ECONNRESET)');
  });

  it('that ends cleanly in the middle of a line ends with KUBE_GARBLED', async () => {
    await using watch = await openWatch();
    watch.write('{"type":"ADD');
    watch.end();
    assert.equal((await refusalOf(watch.first)).code, 'KUBE_GARBLED');
  });

  for (const [what, garbage] of [
    ['no JSON', 'oops\n'],
    ['no event', '{"a":1}\n'],
    ['an event of an unknown type', line({ type: 'RENAMED', object: node('a', '6') })],
    ['an object without a version', line({ type: 'ADDED', object: { metadata: { name: 'a' } } })],
    ['a bookmark without a version', line({ type: 'BOOKMARK', object: {} })],
  ] as const) {
    it(`that says ${what} ends with KUBE_GARBLED and closes the connection`, async () => {
      await using watch = await openWatch();
      watch.write(garbage);
      assert.equal((await refusalOf(watch.first)).code, 'KUBE_GARBLED');
      await until('the connection is gone', () => watch.server.open() === 0);
    });
  }

  it('whose version is forgotten ends with KUBE_GONE, by status', async () => {
    await using server = await playing(status(410, 'too old resource version', { reason: 'Expired' }));
    assert.equal((await refusalOf(collect(kubeFor(server).watch(AT_NODES, SINCE_5, never)))).code, 'KUBE_GONE');
  });

  it('whose version is forgotten ends with KUBE_GONE, by event, though the stream stays open', async () => {
    await using watch = await openWatch();
    watch.write(line({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }));
    const error = await refusalOf(watch.first);
    assert.equal(error.code, 'KUBE_GONE');
    assert.equal(error.status, 410);
    await until('the connection is gone', () => watch.server.open() === 0);
  });

  for (const [code, expected] of [
    [403, 'KUBE_FORBIDDEN'],
    [429, 'KUBE_THROTTLED'],
    [500, 'KUBE_SERVER_ERROR'],
  ] as const) {
    it(`that is refused with ${code} ends with ${expected}`, async () => {
      await using server = await playing(status(code, 'no', {}, { 'retry-after': '9' }));
      const error = await refusalOf(collect(kubeFor(server).watch(AT_NODES, SINCE_5, never)));
      assert.equal(error.code, expected);
      assert.equal(error.disposition.kind, code === 403 ? 'retry' : 'wait');
    });
  }

  it('that is answered with another success is none', async () => {
    await using server = await playing(text('{}', 202));
    assert.equal((await refusalOf(collect(kubeFor(server).watch(AT_NODES, SINCE_5, never)))).code, 'KUBE_GARBLED');
  });

  it('that is reset before it begins ends with KUBE_UNREACHABLE', async () => {
    await using server = await playing(reset);
    assert.equal((await refusalOf(collect(kubeFor(server).watch(AT_NODES, SINCE_5, never)))).code, 'KUBE_UNREACHABLE');
  });

  it('that is not answered ends after thirty seconds', async () => {
    await using server = await playing(hang);
    const clock = createManualClock();
    const watching = refusalOf(collect(kubeFor(server, { clock }).watch(AT_NODES, SINCE_5, never)));
    await until('the request is there', () => server.seen.length === 1);
    await clock.advance(30_000);
    assert.equal((await watching).code, 'KUBE_TIMEOUT');
    await until('the connection is gone', () => server.open() === 0);
  });

  it('may be quiet, and is cut when the server does not end it half a minute after its time', async () => {
    const clock = createManualClock();
    await using watch = await openWatch({ clock });
    watch.write(line(added('a', '6')));
    await watch.first;
    const next = refusalOf(watch.next());
    await clock.advance(329_999);
    assert.equal(watch.server.open(), 1);
    await clock.advance(1);
    const error = await next;
    assert.equal(error.code, 'KUBE_TIMEOUT');
    assert.equal(error.message, 'cannot watch nodes: the server did not end it within 330 s');
    await until('the connection is gone', () => watch.server.open() === 0);
    assert.deepEqual(clock.sleeping(), []);
  });

  it('whose follower lost interest without a word is cut in time all the same', async () => {
    const clock = createManualClock();
    await using watch = await openWatch({ clock });
    watch.write(line(added('a', '6')));
    await watch.first;
    await clock.advance(330_000);
    await until('the connection is gone', () => watch.server.open() === 0);
  });

  it('closes its connection when the loop is left', async () => {
    const clock = createManualClock();
    await using watch = await openWatch({ clock });
    watch.write(line(added('a', '6')));
    await watch.first;
    await watch.leave();
    await until('the connection is gone', () => watch.server.open() === 0);
    assert.deepEqual(clock.sleeping(), []);
  });

  it('closes its connection when the signal aborts, waiting or not', async () => {
    const caller = new AbortController();
    await using waiting = await openWatch({}, caller.signal);
    await using idle = await openWatch({}, caller.signal);
    idle.write(line(added('a', '6')));
    await idle.first;
    caller.abort();
    assert.equal((await refusalOf(waiting.first)).code, 'KUBE_ABORTED');
    await until('both connections are gone', () => waiting.server.open() + idle.server.open() === 0);
    assert.equal((await refusalOf(idle.next())).code, 'KUBE_ABORTED');
  });

  it('is not even begun under a signal that has aborted', async () => {
    await using server = await scriptedServer();
    assert.equal(
      (await refusalOf(collect(kubeFor(server).watch(AT_NODES, SINCE_5, AbortSignal.abort())))).code,
      'KUBE_ABORTED',
    );
    assert.equal(server.accepted(), 0);
  });
});
