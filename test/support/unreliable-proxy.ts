import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type GitServerOptions, type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';

/** Stands before a server of this machine, and can cut it off. */
interface UnreliableProxy {
  /** The server's address by way of the proxy. */
  readonly url: string;
  /** False ends all connections and takes no others; true works again. */
  setReachable(reachable: boolean): void;
  stop(): Promise<void>;
}

/** The sandbox's git server behind such a proxy; both stop with it. */
export async function startUnreliableGit(
  options: GitServerOptions = {},
): Promise<SandboxGitServer & Pick<UnreliableProxy, 'setReachable'>> {
  const git = await startGitServer(options);
  const { url, setReachable, stop } = await startUnreliableProxy(git.url);
  return { ...git, url, setReachable, stop: async () => void (await Promise.all([stop(), git.stop()])) };
}

async function startUnreliableProxy(server: string): Promise<UnreliableProxy> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  let isReachable = true;
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy = createServer((client) => {
    if (!isReachable) return void client.destroy();
    const behind = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: server.replace(`:${port}/`, `:${(proxy.address() as AddressInfo).port}/`),
    setReachable(reachable) {
      isReachable = reachable;
      if (!reachable) endAll();
    },
    async stop() {
      const closed = once(proxy, 'close');
      proxy.close();
      endAll();
      await closed;
    },
  };
}
