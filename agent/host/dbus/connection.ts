import { createConnection, type Socket } from 'node:net';
import { createLifetime, within } from '#shared/runtime/lifetime.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { createFraming } from './framing.ts';
import { authenticate } from './handshake.ts';
import { encodeMessage, type Message } from './message.ts';
import type { DBusValue } from './value.ts';

export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

/**
 * One connection to a message bus, over when the bus hangs up.
 *
 * Written here because no library fits an agent that runs on every node (looked at in November 2026): dbus-next has slept
 * since 2022; dbus-native is alive again and well made, but brings servers, introspection and an XML parser (199 kB
 * minified, half of what the whole agent may have; this is about ten), and is at 0.x with one maintainer.
 */
export interface BusConnection {
  /**
   * Calls a method.
   *
   * @returns the values of the answer
   * @throws GitopsError BUS_REFUSED (the error's name in `fields.name`), BUS_TIMEOUT, BUS_CLOSED, BUS_ABORTED
   */
  call(call: MethodCall, signal: AbortSignal): Promise<readonly DBusValue[]>;
  /** Hears every signal that comes; AddMatch chooses which ones do. @returns stops listening */
  onSignal(listener: (message: Message) => void): () => void;
  /** Aborts when the connection is over; the reason says why. */
  readonly closed: AbortSignal;
  close(): void;
}

interface BusOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  /** For connecting, and for each call. */
  readonly timeoutMs: Millis;
}

/** @throws GitopsError BUS_UNREACHABLE, BUS_DENIED, BUS_PROTOCOL, BUS_TIMEOUT, BUS_CLOSED, BUS_ABORTED */
export async function connectBus(options: BusOptions, signal: AbortSignal): Promise<BusConnection> {
  const { socketPath, clock, timeoutMs } = options;
  const life = createLifetime(clock, signal, () => aborted(signal));
  life.cutAfter(timeoutMs, () => new GitopsError('BUS_TIMEOUT', `no answer at ${socketPath} within ${timeoutMs} ms`));
  const socket = createConnection({ path: socketPath });
  // Without a listener an error would end the process.
  socket.on('error', () => undefined);
  try {
    await within(life.signal, connected(socket, socketPath));
    const early = await within(life.signal, authenticate(socket));
    const connection = speak(socket, early, options);
    await within(life.signal, connection.call({ ...BUS, member: 'Hello' }, life.signal));
    return connection;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    life.end();
  }
}

/** The bus itself, as the one that is called. */
export const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

function connected(socket: Socket, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve());
    socket.once('error', (error) => {
      const denied = codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM';
      const advice = denied ? 'the agent may not: it has to run as root, unconfined by SELinux' : reasonOf(error);
      reject(
        new GitopsError('BUS_UNREACHABLE', `cannot reach the message bus at ${path}: ${advice}`, { cause: error }),
      );
    });
  });
}

interface Waiting {
  resolve(values: readonly DBusValue[]): void;
  reject(error: unknown): void;
}

function speak(socket: Socket, early: Buffer, { clock, timeoutMs }: BusOptions): BusConnection {
  const framing = createFraming();
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<(message: Message) => void>();
  const over = new AbortController();
  let serial = 0;

  const close = (why: GitopsError): void => {
    if (over.signal.aborted) return;
    over.abort(why);
    socket.destroy();
    for (const { reject } of waiting.values()) reject(why);
    waiting.clear();
  };
  const hear = (chunk: Buffer): void => {
    try {
      for (const message of framing.push(chunk)) dispatch(message, waiting, listeners);
    } catch (error) {
      close(error instanceof GitopsError ? error : new GitopsError('BUS_PROTOCOL', reasonOf(error), { cause: error }));
    }
  };
  socket.on('data', hear);
  socket.on('close', () => close(new GitopsError('BUS_CLOSED', 'the message bus hung up')));
  hear(early);

  return {
    closed: over.signal,
    close: () => close(new GitopsError('BUS_CLOSED', 'the connection to the message bus was closed')),
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async call(call, signal) {
      if (over.signal.aborted) throw over.signal.reason as GitopsError;
      const { signature = '', body = [], ...header } = call;
      const id = (serial = (serial % 0xffff_ffff) + 1);
      const bytes = encodeMessage({ kind: 'call', serial: id, ...header, signature, body });
      const answer = new Promise<readonly DBusValue[]>((resolve, reject) => waiting.set(id, { resolve, reject }));
      const life = createLifetime(clock, signal, () => aborted(signal));
      life.cutAfter(timeoutMs, () => new GitopsError('BUS_TIMEOUT', `${call.member} took more than ${timeoutMs} ms`));
      try {
        socket.write(bytes);
        return await within(life.signal, answer);
      } finally {
        waiting.delete(id);
        life.end();
      }
    },
  };
}

function dispatch(
  message: Message,
  waiting: Map<number, Waiting>,
  listeners: ReadonlySet<(message: Message) => void>,
): void {
  if (message.kind === 'signal') {
    for (const listener of listeners) listener(message);
    return;
  }
  const call = waiting.get(message.replySerial ?? 0);
  if (message.kind === 'return') call?.resolve(message.body);
  if (message.kind === 'error') call?.reject(refusal(message));
}

/** `fields.name` is the error's name on the bus: `org.freedesktop.DBus.Error.AccessDenied`. */
function refusal({ errorName = 'an error without a name', body: [text] }: Message): GitopsError {
  const said = typeof text === 'string' ? text : errorName;
  return new GitopsError('BUS_REFUSED', said, { fields: { name: errorName } });
}

/** The bus's name of an error that a call was answered with; undefined for all other errors. */
export function refusalName(thrown: unknown): string | undefined {
  const name = thrown instanceof GitopsError && thrown.code === 'BUS_REFUSED' ? thrown.fields['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function aborted(signal: AbortSignal): GitopsError {
  return new GitopsError('BUS_ABORTED', 'given up', { cause: signal.reason });
}
