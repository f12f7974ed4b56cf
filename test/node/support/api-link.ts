import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePorts } from '../../cluster/support/free-ports.ts';

/** One node's way to the API server, which can be cut while everybody else keeps theirs. */
export interface ApiLink {
  readonly url: string;
  /** Ends every connection and refuses new ones, as an API server that is down does. */
  readonly cut: () => Promise<void>;
  /** Listens on the same port again. */
  readonly fix: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Passes bytes on unread to that port of 127.0.0.1: TLS goes through, and the certificate stays the server's own. */
export async function startApiLink(targetPort: number): Promise<ApiLink> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // Whoever is cut off sees the end; there is nobody here to tell.
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    return socket;
  };
  const serve = (near: Socket): void => {
    const far = keep(connect(targetPort, '127.0.0.1'));
    keep(near).pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  };
  const listen = async (port: number): Promise<Server> => {
    const listening = createServer(serve).listen(port, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  // None of those that the kernel gives to connections: one could have it while nobody listens there.
  const [port = 0] = await freePorts(1);
  let server: Server | undefined = await listen(port);
  const cut = async (): Promise<void> => {
    const closed = server === undefined ? [] : once(server, 'close');
    server?.close();
    server = undefined;
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: `https://127.0.0.1:${port}`,
    cut,
    async fix() {
      server ??= await listen(port);
    },
    stop: cut,
  };
}
