import { within } from '#shared/runtime/lifetime.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { type BusConnection, connectBus } from './connection.ts';

/** Where systemd's host has its system bus, and a pod that may talk to it as well. */
export const SYSTEM_BUS = '/run/dbus/system_bus_socket';

/** The way to a message bus: one connection that everybody shares, made when it is needed and made again when it broke. */
export interface BusLink {
  /** The present connection, or a new one. @throws as `connectBus` does */
  connection(signal: AbortSignal): Promise<BusConnection>;
  close(): void;
}

interface BusLinkOptions {
  /** Of the system bus: `SYSTEM_BUS`. */
  readonly socketPath: string;
  readonly clock: Clock;
  /** For connecting, and for each call. Default 2 s. */
  readonly timeoutMs?: Millis;
}

export function createBusLink({ socketPath, clock, timeoutMs = 2000 }: BusLinkOptions): BusLink {
  const end = new AbortController();
  let present: Promise<BusConnection> | undefined;
  const connect = (): Promise<BusConnection> => {
    // Others may wait for the same one, so that it does not end with the first who asked.
    const connecting = connectBus({ socketPath, clock, timeoutMs }, end.signal);
    const forget = (): void => {
      if (present === connecting) present = undefined;
    };
    connecting.then(({ closed }) => (closed.aborted ? forget() : closed.addEventListener('abort', forget)), forget);
    return connecting;
  };
  return {
    async connection(signal) {
      signal.throwIfAborted();
      return within(signal, (present ??= connect()));
    },
    close() {
      end.abort();
      present?.then(
        (connection) => connection.close(),
        () => undefined,
      );
      present = undefined;
    },
  };
}
