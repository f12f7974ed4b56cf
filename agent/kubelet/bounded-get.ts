import type { Duplex } from 'node:stream';
import { sendAndCollect, type HttpAnswer } from '#shared/http/body.ts';
import type { Lifetime } from '#shared/runtime/lifetime.ts';
import type { Address } from './pinned-certificate.ts';

interface GetOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** An open connection to use, instead of a new one. */
  readonly socket?: Duplex;
  readonly maxBytes: number;
}

/** One GET without any reuse of connections. Rejects where no whole answer of at most `maxBytes` comes. */
export function boundedGet(
  { host, port }: Address,
  path: string,
  options: GetOptions,
  life: Lifetime,
): Promise<HttpAnswer> {
  const { headers = {}, socket, maxBytes } = options;
  const url = new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`);
  // With `agent` set, even to false, a connection of the agent's making would be used instead of the socket.
  const over = socket === undefined ? { agent: false as const } : { createConnection: () => socket };
  const tooLong = (): Error => new Error(`${path} gives more than ${maxBytes} bytes`);
  return sendAndCollect({ method: 'GET', url, headers, over }, life, { maxBytes, tooLong });
}
