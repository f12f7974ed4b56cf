import { request, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';

export interface GetOptions {
  readonly path: string;
  readonly host: string;
  readonly port: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An open connection to use, instead of a new one. */
  readonly socket?: Duplex;
  readonly mostBytes: number;
}

export interface Got {
  readonly status: number;
  readonly text: string;
}

/** One GET without any reuse of connections. Rejects where no whole answer of at most `mostBytes` comes. */
export function boundedGet(options: GetOptions, signal: AbortSignal): Promise<Got> {
  const { path, host, port, headers = {}, socket, mostBytes } = options;
  return new Promise((resolve, reject) => {
    // With `agent` set, even to false, a connection of the agent's making would be used instead of the socket.
    const over: RequestOptions = socket === undefined ? { agent: false } : { createConnection: () => socket };
    const asking = request({ path, host, port, headers, signal, ...over }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > mostBytes) response.destroy(new Error(`${path} gives more than ${mostBytes} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    asking.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error));
    asking.end();
  });
}
