import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A SOCKS 5 proxy (RFC 1928, RFC 1929), with a password or without. */
export interface SocksProxy {
  /** `host:port`. */
  readonly host: string;
  /** What it was asked for: `git.example.test:443`. */
  readonly asked: readonly string[];
}

interface SocksOptions {
  /** Port on this machine that every name leads to. */
  readonly to: number;
  /** `user:password` that it wants. */
  readonly password?: string;
  /** What it answers a request with; 0 for success. */
  readonly reply?: number;
}

export async function startSocksProxy(t: Pick<TestContext, 'after'>, options: SocksOptions): Promise<SocksProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket, options, asked, sockets).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function serve(
  socket: Socket,
  { to, password, reply = 0 }: SocksOptions,
  asked: string[],
  all: Set<Socket>,
): Promise<void> {
  const read = async (bytes: number): Promise<Buffer> => {
    for (;;) {
      const found = socket.read(bytes) as Buffer | null;
      if (found !== null) return found;
      await once(socket, 'readable');
    }
  };
  const counted = async (): Promise<string> => (await read((await read(1))[0] ?? 0)).toString();
  const [, count = 0] = await read(2);
  const methods = [...(await read(count))];
  const method = password === undefined ? 0 : 2;
  if (!methods.includes(method)) return void socket.end(Buffer.from([5, 255]));
  socket.write(Buffer.from([5, method]));
  if (password !== undefined) {
    await read(1);
    const said = `${await counted()}:${await counted()}`;
    socket.write(Buffer.from([1, said === password ? 0 : 1]));
    if (said !== password) return void socket.end();
  }
  const type = (await read(4))[3];
  const host = type === 3 ? await counted() : [...(await read(type === 1 ? 4 : 16))].join('.');
  asked.push(`${host}:${(await read(2)).readUInt16BE()}`);
  // The address that it is bound to is a name here: its length comes with it.
  socket.write(Buffer.concat([Buffer.from([5, reply, 0, 3, 5]), Buffer.from('bound'), Buffer.from([0, 0])]));
  if (reply !== 0) return void socket.end();
  const onward = connect(to, '127.0.0.1');
  all.add(onward);
  onward.on('error', () => socket.destroy());
  socket.on('close', () => onward.destroy());
  onward.pipe(socket).pipe(onward);
}
