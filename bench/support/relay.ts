import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that counts what goes through, TLS or not, and adds no wait of its own (Nagle's, 40 ms a request). */
export interface Relay {
  readonly port: number;
  /** Bytes from the server since this was last asked. */
  received(): number;
  /** Bytes to the server since this was last asked. */
  sent(): number;
  stop(): Promise<void>;
}

export async function startRelay(target: URL): Promise<Relay> {
  const sockets = new Set<Socket>();
  let down = 0;
  let up = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = keep(connect({ port: Number(target.port), host: target.hostname, noDelay: true }));
    keep(near);
    far.on('data', (chunk) => (down += chunk.length));
    near.on('data', (chunk) => (up += chunk.length));
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const take = (count: number, reset: () => void): number => {
    reset();
    return count;
  };
  return {
    port: (server.address() as AddressInfo).port,
    received: () => take(down, () => (down = 0)),
    sent: () => take(up, () => (up = 0)),
    async stop() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
