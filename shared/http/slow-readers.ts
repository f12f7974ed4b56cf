import type { Server } from 'node:http';

/** How long an answer may take to be read, in milliseconds: a page over a bad line takes less. */
const LONGEST_MS = 30_000;

/**
 * Ends connections of clients that ask and do not read the answer, or read it too slowly: each holds a place and the memory of
 * its answer for as long as it likes. Not those of answers that are still being given (server-sent events).
 */
export function cutSlowReaders(server: Server): void {
  server.on('request', (request, response) => {
    AbortSignal.timeout(LONGEST_MS).addEventListener('abort', () => {
      if (response.writableEnded && !response.writableFinished) request.socket.destroy();
    });
  });
}
