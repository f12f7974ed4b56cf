import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BusConnection, MethodCall } from '#agent/host/dbus/connection.ts';
import type { BusLink } from '#agent/host/dbus/link.ts';
import type { Message } from '#agent/host/dbus/message.ts';
import { marshal } from '#agent/host/dbus/marshal.ts';
import { followUnit, readUnit, rebootMachine, reloadUnits, stopUnit } from '#agent/kubelet/systemd-unit.ts';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';

const UNIT = 'kubelet.service';
const PATH = '/org/freedesktop/systemd1/unit/kubelet_2eservice';
const { signal } = new AbortController();

/** A bus that keeps what was called, with a body that its signature can carry, and refuses some of it by name. */
function createBus(refusals: Readonly<Record<string, string>> = {}) {
  const calls: string[] = [];
  const listeners = new Set<(message: Message) => void>();
  const call = async ({ destination, path, member, signature = '', body = [] }: MethodCall) => {
    marshal(signature, body);
    calls.push([destination.replace('org.freedesktop.', ''), path, member, ...body.map(String)].join(' '));
    const name = refusals[member];
    if (name !== undefined) throw new GitopsError('BUS_REFUSED', name, { fields: { name } });
    return member === 'LoadUnit' ? [PATH] : [new Map()];
  };
  const onSignal = (listener: (message: Message) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const connection = { call, onSignal } as unknown as BusConnection;
  const link = { connection: async () => connection } as unknown as BusLink;
  return { calls, connection, link, tell: (message: Message) => listeners.forEach((listener) => listener(message)) };
}

const MANAGER = 'systemd1 /org/freedesktop/systemd1';
const REBOOT = 'login1 /org/freedesktop/login1 Reboot false';
const TARGET = `${MANAGER} StartUnit reboot.target replace-irreversibly`;

describe('systemd is asked', () => {
  it('for all properties of a unit, wherever that is', async () => {
    const { calls, connection } = createBus();
    await readUnit(connection, UNIT, signal);
    assert.deepEqual(calls, [`${MANAGER} LoadUnit ${UNIT}`, `systemd1 ${PATH} GetAll `]);
  });

  it('to read its units again', async () => {
    const { calls, connection } = createBus();
    await reloadUnits(connection, signal);
    assert.deepEqual(calls, [`${MANAGER} Reload`]);
  });

  it('to stop a unit, which is stopped where it is not known', async () => {
    const { calls, connection } = createBus({ StopUnit: 'org.freedesktop.systemd1.NoSuchUnit' });
    await stopUnit(connection, UNIT, signal);
    assert.deepEqual(calls, [`${MANAGER} StopUnit ${UNIT} replace`]);
    const denied = createBus({ StopUnit: 'org.freedesktop.DBus.Error.AccessDenied' });
    await assert.rejects(stopUnit(denied.connection, UNIT, signal));
  });

  it('to tell of a unit, which somebody else may have asked for on this connection', async () => {
    const { calls, connection, tell } = createBus({ Subscribe: 'org.freedesktop.systemd1.AlreadySubscribed' });
    let changes = 0;
    const stop = await followUnit(connection, UNIT, () => (changes += 1), signal);
    assert.deepEqual(calls.slice(0, 1), [`${MANAGER} LoadUnit ${UNIT}`]);
    assert.match(calls[1] ?? '', new RegExp(`AddMatch .*path='${PATH}'`));
    const signalOf = (path: string, member: string): Message => ({
      kind: 'signal',
      serial: 1,
      path,
      member,
      signature: '',
      body: [],
    });
    tell(signalOf(PATH, 'PropertiesChanged'));
    tell(signalOf(`${PATH}2`, 'PropertiesChanged'));
    tell(signalOf(PATH, 'Other'));
    assert.equal(changes, 1);
    stop();
    tell(signalOf(PATH, 'PropertiesChanged'));
    assert.equal(changes, 1);
  });
});

describe('a machine is rebooted', () => {
  it('by logind, and by nobody else where that does it', async () => {
    const { calls, link } = createBus();
    await rebootMachine(link, signal);
    assert.deepEqual(calls, [REBOOT]);
  });

  it('by systemd where there is no logind', async () => {
    const { calls, link } = createBus({ Reboot: 'org.freedesktop.DBus.Error.ServiceUnknown' });
    await rebootMachine(link, signal);
    assert.deepEqual(calls, [REBOOT, TARGET]);
  });

  for (const no of [
    'org.freedesktop.DBus.Error.AccessDenied',
    'org.freedesktop.DBus.Error.InteractiveAuthorizationRequired',
    'org.freedesktop.DBus.Error.AuthFailed',
    'org.freedesktop.login1.BlockedByInhibitorLock',
  ]) {
    it(`by nobody where logind says ${no}`, async () => {
      const { calls, link } = createBus({ Reboot: no });
      await assert.rejects(rebootMachine(link, signal), (error) => codeOf(error) === 'SERVICE_DENIED');
      assert.deepEqual(calls, [REBOOT]);
    });
  }

  it('by nobody where the bus cannot be reached', async () => {
    const link = { connection: () => Promise.reject(new Error('no bus')) } as unknown as BusLink;
    await assert.rejects(rebootMachine(link, signal), (error) => codeOf(error) === 'SERVICE_UNREACHABLE');
  });
});
