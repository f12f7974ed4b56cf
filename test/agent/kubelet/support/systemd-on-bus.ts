import { once } from 'node:events';
import { createConnection } from 'node:net';
import { BUS } from '#agent/host/dbus/connection.ts';
import { createFraming } from '#agent/host/dbus/framing.ts';
import { authenticate } from '#agent/host/dbus/handshake.ts';
import { encodeMessage, type Message } from '#agent/host/dbus/message.ts';
import type { DBusValue, Variant } from '#agent/host/dbus/value.ts';

const NAME = 'org.freedesktop.systemd1';
const UNIT = '/org/freedesktop/systemd1/unit/kubelet_2eservice';

/** As much of systemd as one unit needs, on a real bus. */
export interface SystemdOnBus {
  /** Members that were called, with the texts and numbers they were given. */
  readonly calls: string[];
  /** Tells everybody who asked that the unit is in another state. */
  change(): void;
  close(): void;
}

export async function startSystemdOnBus(
  socketPath: string,
  properties: Readonly<Record<string, Variant>> = {},
): Promise<SystemdOnBus> {
  const socket = createConnection({ path: socketPath });
  await once(socket, 'connect');
  const early = await authenticate(socket);
  const framing = createFraming();
  const calls: string[] = [];
  const owned = Promise.withResolvers<void>();
  let serial = 0;
  const send = (message: Omit<Message, 'serial'>): void =>
    void socket.write(encodeMessage({ ...message, serial: (serial += 1) }));
  const answer = ({ sender, serial: replySerial, member = '', body: given }: Message): void => {
    calls.push([member, ...given.map(textOf)].join(' '));
    const answers: Readonly<Record<string, readonly [string, readonly DBusValue[]]>> = {
      LoadUnit: ['o', [UNIT]],
      GetAll: ['a{sv}', [new Map<DBusValue, DBusValue>(Object.entries(properties))]],
    };
    const [signature, body] = answers[member] ?? ['', []];
    send({ kind: 'return', replySerial, signature, body, ...(sender === undefined ? {} : { destination: sender }) });
  };
  const hear = (chunk: Buffer): void => {
    for (const message of framing.push(chunk)) {
      if (message.kind === 'call') answer(message);
      else if (message.replySerial === 2) owned.resolve();
    }
  };
  socket.on('error', () => undefined);
  socket.on('data', hear);
  hear(early);
  send({ kind: 'call', ...BUS, member: 'Hello', signature: '', body: [] });
  send({ kind: 'call', ...BUS, member: 'RequestName', signature: 'su', body: [NAME, 0] });
  await owned.promise;
  return {
    calls,
    change() {
      const changed = { path: UNIT, interface: 'org.freedesktop.DBus.Properties', member: 'PropertiesChanged' };
      send({ kind: 'signal', ...changed, signature: 'sa{sv}as', body: [`${NAME}.Unit`, new Map(), []] });
    },
    close: () => void socket.destroy(),
  };
}

/** Lists and what variants hold, without their brackets. */
function textOf(value: DBusValue): string {
  if (Array.isArray(value)) return value.map(textOf).join();
  if (typeof value !== 'object') return `${value}`;
  return 'value' in value ? textOf(value.value) : '?';
}
