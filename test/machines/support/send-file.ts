import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Machine } from './machine.ts';
import { GATEWAY } from './machine-paths.ts';

/** Brings a program to a machine, in place of what lies there, in one step. */
export async function sendProgram({ run }: Pick<Machine, 'run'>, from: string, to: string): Promise<void> {
  const server = createServer((socket) => void pipeline(createReadStream(from), socket).catch(() => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  try {
    await run(`bash -c 'cat </dev/tcp/${GATEWAY}/${port} >${to}.new' && chmod 755 ${to}.new && mv ${to}.new ${to}`);
  } finally {
    server.close();
  }
}
