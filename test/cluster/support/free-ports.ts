import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that Linux gives to outgoing connections (ip_local_port_range begins at 32768): those may take any at any time. */
const RANGE = { from: 15_000, to: 32_000 } as const;
const MOST_TRIES = 100;
/** To this process: whoever was given one may listen on it only later. */
const given = new Set<number>();

/** Ports of this machine that nobody listens on now, none of them twice. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  for (let tries = 0; servers.length < count; tries += 1) {
    if (tries >= MOST_TRIES) throw new Error(`no ${count} free ports from ${RANGE.from} to ${RANGE.to}`);
    const port = randomInt(RANGE.from, RANGE.to);
    if (given.has(port)) continue;
    given.add(port);
    const server = await listening(port);
    if (server !== undefined) servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '0.0.0.0');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
