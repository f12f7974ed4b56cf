import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { forAllAsyncOf } from '../../../support/property.ts';
import { BUS, type BusConnection, connectBus, refusalName } from '#agent/host/dbus/connection.ts';
import { createFraming } from '#agent/host/dbus/framing.ts';
import { authenticate } from '#agent/host/dbus/handshake.ts';
import { createBusLink } from '#agent/host/dbus/link.ts';
import { encodeMessage, type Message } from '#agent/host/dbus/message.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { type BusDaemon, noBusDaemon, startBusDaemon } from './support/bus-daemon.ts';
import { typedValues } from './support/values.ts';

const never = new AbortController().signal;
const connect = (socketPath: string, timeoutMs = 2000): Promise<BusConnection> =>
  connectBus({ socketPath, clock: systemClock, timeoutMs }, never);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : assert.fail('no text'));
const failsWith = (code: string) => (error: unknown) => codeOf(error) === code;

describeOrSkip('a real dbus-daemon', { skip: noBusDaemon }, () => {
  let daemon: BusDaemon;
  before(async () => void (daemon = await startBusDaemon()));
  after(() => daemon?.stop());

  it('accepts us, answers calls and names its errors', async () => {
    const connection = await connect(daemon.socketPath);
    const [names] = await connection.call({ ...BUS, member: 'ListNames' }, never);
    assert.ok(Array.isArray(names) && names.includes('org.freedesktop.DBus'));
    const ask = { ...BUS, member: 'GetNameOwner', signature: 's', body: ['nobody.has.it'] };
    await assert.rejects(connection.call(ask, never), (error: unknown) => {
      assert.equal(refusalName(error), 'org.freedesktop.DBus.Error.NameHasNoOwner');
      return true;
    });
    const credentials = { ...BUS, member: 'GetConnectionCredentials', signature: 's', body: ['org.freedesktop.DBus'] };
    const [known] = await connection.call(credentials, never);
    assert.ok(known instanceof Map && known.has('ProcessID'));
    connection.close();
    await assert.rejects(connection.call({ ...BUS, member: 'ListNames' }, never), failsWith('BUS_CLOSED'));
  });

  it('answers many calls at once, each its own', async () => {
    const connection = await connect(daemon.socketPath);
    const rules = Array.from({ length: 50 }, (_, index) => `type='signal',arg0='${index}'`);
    const call = (member: string, rule: string) =>
      connection.call({ ...BUS, member, signature: 's', body: [rule] }, never);
    await Promise.all(rules.map((rule) => call('AddMatch', rule)));
    const removed = await Promise.allSettled([...rules, ...rules].map((rule) => call('RemoveMatch', rule)));
    assert.deepEqual(
      removed.map(({ status }) => status),
      [...rules.map(() => 'fulfilled'), ...rules.map(() => 'rejected')],
    );
    connection.close();
  });

  it('tells of what it was asked to tell', async () => {
    const connection = await connect(daemon.socketPath);
    const heard = Promise.withResolvers<Message>();
    connection.onSignal((message) => message.member === 'NameOwnerChanged' && heard.resolve(message));
    const rule = "type='signal',member='NameOwnerChanged'";
    await connection.call({ ...BUS, member: 'AddMatch', signature: 's', body: [rule] }, never);
    (await connect(daemon.socketPath)).close();
    const { body, path } = await heard.promise;
    assert.equal(path, '/org/freedesktop/DBus');
    assert.match(textOf(body[2]), /^:/);
    connection.close();
  });

  it('finds every value that we write well-formed and brings it back unchanged', async () => {
    const socket = createConnection({ path: daemon.socketPath });
    await once(socket, 'connect');
    await authenticate(socket);
    const heard = hearing(socket);
    socket.write(encodeMessage({ kind: 'call', serial: 1, ...BUS, member: 'Hello', signature: '', body: [] }));
    const [self] = (await heard((message) => message.replySerial === 1)).body;
    let serial = 1;
    await forAllAsyncOf(200, typedValues, async (typed) => {
      serial += 1;
      const signature = typed.map((one) => one.signature).join('');
      const body = typed.map((one) => one.value);
      const path = '/test';
      const signal = { path, interface: 'test.Echo', member: `Echo${serial}`, destination: textOf(self) };
      socket.write(encodeMessage({ kind: 'signal', serial, ...signal, signature, body }));
      const echo = await heard((message) => message.member === signal.member);
      assert.deepEqual({ signature: echo.signature, body: echo.body }, { signature, body });
    });
    socket.destroy();
  });

  it('that dies ends the connection and its calls; the link makes a new one when it is back', async () => {
    const link = createBusLink({ socketPath: daemon.socketPath, clock: systemClock });
    const connection = await link.connection(never);
    assert.equal(await link.connection(never), connection);
    daemon.freeze();
    const over = once(connection.closed, 'abort');
    const pending = connection.call({ ...BUS, member: 'ListNames' }, never);
    await Promise.all([over, assert.rejects(pending, failsWith('BUS_CLOSED')), daemon.kill()]);
    await assert.rejects(link.connection(never), failsWith('BUS_UNREACHABLE'));
    await daemon.start();
    const again = await link.connection(never);
    assert.notEqual(again, connection);
    await again.call({ ...BUS, member: 'ListNames' }, never);
    link.close();
  });

  it('that refuses our way of authentication is told of as such', async () => {
    const anonymous = await startBusDaemon('ANONYMOUS');
    await assert.rejects(connect(anonymous.socketPath), failsWith('BUS_DENIED'));
    await anonymous.stop();
  });
});

describe('a socket without a message bus behind it', () => {
  const path = join(tmpdir(), `kubelet-gitops-no-bus-${process.pid}`);
  const listen = async (behave: (socket: Socket) => void): Promise<Server> => {
    rmSync(path, { force: true });
    const server = createServer(behave);
    server.listen(path);
    await once(server, 'listening');
    return server;
  };

  it('is unreachable when nobody listens', async () => {
    await assert.rejects(connect('/nowhere/bus'), failsWith('BUS_UNREACHABLE'));
  });

  it('is given up in time when it says nothing', async () => {
    const server = await listen(() => undefined);
    await assert.rejects(connect(path, 30), failsWith('BUS_TIMEOUT'));
    server.close();
  });

  it('is given up when it hangs up, says something else, or does not stop talking', async () => {
    const closing = await listen((socket) => socket.end());
    await assert.rejects(connect(path), failsWith('BUS_CLOSED'));
    closing.close();
    const web = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await assert.rejects(connect(path), failsWith('BUS_DENIED'));
    web.close();
    const flood = await listen((socket) => socket.on('error', () => undefined).write('x'.repeat(100_000)));
    await assert.rejects(connect(path), failsWith('BUS_PROTOCOL'));
    flood.close();
  });

  it('is not waited for by whoever gives up', async () => {
    const server = await listen(() => undefined);
    const giveUp = new AbortController();
    const link = createBusLink({ socketPath: path, clock: systemClock });
    const connecting = link.connection(giveUp.signal);
    giveUp.abort(new Error('no more'));
    await assert.rejects(connecting, /no more/);
    link.close();
    server.close();
  });
});

/** Resolves with the first message, from now on or held back, that fits. */
function hearing(socket: Socket): (fits: (message: Message) => boolean) => Promise<Message> {
  const framing = createFraming();
  const held: Message[] = [];
  let look = (): void => undefined;
  socket.on('data', (chunk: Buffer) => {
    held.push(...framing.push(chunk));
    look();
  });
  return (fits) =>
    new Promise((resolve) => {
      look = () => {
        const found = held.find(fits);
        if (found !== undefined) resolve(found);
      };
      look();
    });
}
