import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A way to a server that counts what goes through, TLS or not, and adds no wait of its own (Nagle's, 40 ms a request). */
export interface Relay {
  readonly port: number;
  /** Bytes both ways since this was last asked. */
  bytes(): number;
}

export async function startRelay(target: URL): Promise<Relay> {
  let counted = 0;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk: Buffer) => (counted += chunk.length));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    bytes() {
      const bytes = counted;
      counted = 0;
      return bytes;
    },
  };
}
