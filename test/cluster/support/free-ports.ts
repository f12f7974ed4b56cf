import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports of this machine that nobody listens on now, all different. Another process may take one before it is used:
 * whoever starts a server with it looks for "address already in use" in its log and asks again.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '0.0.0.0'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
