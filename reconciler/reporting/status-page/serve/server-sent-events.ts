import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './headers.ts';
import { type Listeners, UPDATE_EVENT } from './listeners.ts';

/** When a browser whose connection broke comes back. */
const RETRY_MS = 3_000;

/** Keeps an answer open and tells on it when there is something new (server-sent events). */
export function serveUpdates(
  request: IncomingMessage,
  response: ServerResponse,
  listeners: Pick<Listeners, 'join'>,
): void {
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' }).end();
    return;
  }
  const leave = listeners.join({
    send(text) {
      // Nothing is buffered for a client that does not read: the next message would say the same.
      if (response.writableNeedDrain) return false;
      response.write(text);
      return true;
    },
    drop: () => response.destroy(),
  });
  if (leave === null) {
    response.writeHead(503, { ...SECURITY_HEADERS, 'content-type': 'text/plain', 'retry-after': '60' });
    response.end('too many browsers follow this page already; reload it to see what is new\n');
    return;
  }
  response.on('close', leave);
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream',
    // nginx buffers what it proxies by default.
    'x-accel-buffering': 'no',
  });
  response.write(`retry: ${RETRY_MS}\n\n${UPDATE_EVENT}`);
}
