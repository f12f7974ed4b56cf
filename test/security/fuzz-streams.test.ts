import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllAsyncOf } from '../support/property.ts';
import { createFraming } from '#agent/host/dbus/framing.ts';
import { encodeMessage, MAX_MESSAGE_BYTES, type Message } from '#agent/host/dbus/message.ts';
import type { DBusValue } from '#agent/host/dbus/value.ts';
import { statusFromProperties } from '#agent/kubelet/systemd-status.ts';
import { whyUnitUnsupported } from '#agent/kubelet/unsupported-unit.ts';
import { linesOf } from '#shared/kube/response-body.ts';
import type { Call } from '#shared/kube/kube-call.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { watchOnce } from '#shared/kube/watch-once.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { typedValue } from '../agent/host/dbus/support/values.ts';
import { damaged, grafted, hostileJson, survives } from './support/hostile.ts';
import { column } from '../support/columns.ts';

const RUNS = 1_000;

/** The bytes in pieces, as a socket gives them. */
function inPieces(bytes: Uint8Array, sizes: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return pieces;
}

const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 4 });

describe('what comes over the system bus', () => {
  const of = (signature: string, value: DBusValue) => ({ signature, value });
  const properties = new Map<DBusValue, DBusValue>([
    ['Id', of('s', 'kubelet.service')],
    ['LoadState', of('s', 'loaded')],
    ['ActiveState', of('s', 'active')],
    ['SubState', of('s', 'running')],
    ['MainPID', of('u', 4711)],
    ['NRestarts', of('u', 2)],
    [
      'InvocationID',
      of(
        'ay',
        Uint8Array.from({ length: 16 }, (_, index) => index),
      ),
    ],
    ['ExecMainStartTimestampMonotonic', of('t', 12n)],
    ['Job', of('(uo)', [0, '/'])],
    ['CanStart', of('b', true)],
    ['DropInPaths', of('as', ['/etc/systemd/system/kubelet.service.d/10-kubeadm.conf'])],
  ]);
  const messages: readonly Message[] = [
    { kind: 'return', serial: 7, replySerial: 3, signature: 'a{sv}', body: [properties] },
    { kind: 'error', serial: 8, replySerial: 4, errorName: 'org.x.Failed', signature: 's', body: ['no'] },
    {
      kind: 'signal',
      serial: 9,
      path: '/a',
      interface: 'a.B',
      member: 'C',
      signature: 'sa{sv}as',
      body: ['', new Map(), []],
    },
  ];
  const stream = Buffer.concat(messages.map(encodeMessage));

  /** What was understood of a stream until it was of no use any more. */
  const heard = async (pieces: readonly Buffer[]): Promise<readonly Message[]> => {
    const framing = createFraming();
    const all: Message[] = [];
    for (const piece of pieces) {
      const some = await survives(() => framing.push(piece));
      if (some instanceof GitopsError) break;
      all.push(...some);
    }
    return all;
  };

  it('is understood whole, in whatever pieces it comes', async () => {
    await forAllAsyncOf(100, sizes, async (pieces) => {
      assert.deepEqual(column(await heard(inPieces(stream, pieces)), 'serial'), [7, 8, 9]);
    });
  });

  it('is messages, or of no use any more, where its bytes are damaged', async () => {
    await forAllAsyncOf(RUNS, damaged(stream), sizes, async (bytes, pieces) => {
      for (const message of await heard(inPieces(bytes, pieces))) {
        assert.ok(Array.isArray(message.body));
        const [first] = message.body;
        if (first instanceof Map) await survives(() => statusFromProperties(first));
      }
    });
  });

  it('is given up on before it is held, where a message says that it is too long', async () => {
    const lengths = fc.integer({ min: MAX_MESSAGE_BYTES, max: 0xffff_ffff });
    await forAllAsyncOf(100, lengths, fc.constantFrom(4, 12), async (length, at) => {
      const bytes = Buffer.from(stream.subarray(0, 16));
      bytes.writeUInt32LE(length, at);
      assert.ok((await survives(() => createFraming().push(bytes))) instanceof GitopsError);
    });
  });

  it('says something of the kubelet, or that nothing is known, whatever its properties are', async () => {
    const strange = fc.record({ name: fc.constantFrom(...properties.keys()), value: typedValue });
    await forAllAsyncOf(RUNS, fc.array(strange, { minLength: 1, maxLength: 4 }), async (changes) => {
      const changed = new Map(properties);
      for (const { name, value } of changes) changed.set(name, value);
      const status = await survives(() => statusFromProperties(changed));
      assert.ok(!(status instanceof GitopsError));
      assert.ok(status.run === null || typeof status.run === 'string');
      assert.ok(status.pid === undefined || status.pid > 0);
      await survives(() => whyUnitUnsupported('kubelet.service', changed, true));
    });
  });
});

describe('a watch of the API server', () => {
  const object = {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletNode',
    metadata: { name: 'a', uid: 'u', resourceVersion: '7' },
    spec: { pool: 'größer' },
  };
  const events = [
    { type: 'ADDED', object },
    { type: 'BOOKMARK', object: { kind: 'KubeletNode', metadata: { resourceVersion: '8' } } },
    { type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' } },
  ];
  const bytesOf = (lines: readonly unknown[]): Buffer =>
    Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

  /** Reads a watch of these bytes to its end, as the agent does. */
  async function watched(pieces: readonly Buffer[]): Promise<number | GitopsError> {
    async function* chunks() {
      yield* pieces;
    }
    const transport: Transport = {
      ask: () => Promise.reject(new Error('nobody asks')),
      lines: (call: Call) => linesOf(call, chunks(), 100_000),
    };
    const watch = watchOnce(
      transport,
      { resource: KUBELET_NODES },
      { version: '1', lastsMs: 300_000 },
      new AbortController().signal,
    );
    let seen = 0;
    return survives(async () => {
      for await (const event of watch) {
        const version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        assert.equal(typeof version, 'string', 'nobody could go on from there');
        seen += 1;
      }
      return seen;
    });
  }

  it('is events, in whatever pieces it comes, and ends with what the server says', async () => {
    await forAllAsyncOf(100, sizes, async (pieces) => {
      assert.equal(await watched(inPieces(bytesOf(events.slice(0, 2)), pieces)), 2);
      assert.equal(((await watched(inPieces(bytesOf(events), pieces))) as GitopsError).code, 'KUBE_GONE');
    });
  });

  it('is events, or an error that says what is wrong, where its bytes are damaged or its objects are none', async () => {
    const strange = fc.array(fc.oneof(...events.map((event) => grafted(event)), hostileJson), { maxLength: 4 });
    const streams = fc.oneof(damaged(bytesOf(events)), strange.map(bytesOf));
    await forAllAsyncOf(RUNS, streams, sizes, async (bytes, pieces) => void (await watched(inPieces(bytes, pieces))));
  });
});
