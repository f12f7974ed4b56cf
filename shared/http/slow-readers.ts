import type { Server, ServerResponse } from 'node:http';

/** An answer has to be read within one to two of these, in milliseconds: a page over a bad line takes less. */
const PERIOD_MS = 15_000;

/**
 * Ends connections of clients that ask and do not read the answer, or read it too slowly: each holds a place and the memory of
 * its answer for as long as it likes. Not those of answers that are still being given (server-sent events). Whatever is asked, one
 * timer does it, and nothing is kept of answers that were read.
 */
export function cutSlowReaders(server: Server): void {
  let [older, younger] = [new Set<ServerResponse>(), new Set<ServerResponse>()];
  let isWatched = false;

  function sweep(): void {
    for (const response of older) {
      const { socket } = response.req;
      if (response.writableEnded) socket.destroy();
      else if (!socket.destroyed) younger.add(response);
    }
    [older, younger] = [younger, new Set()];
    isWatched = older.size > 0;
    if (isWatched) watch();
  }

  const watch = (): void => AbortSignal.timeout(PERIOD_MS).addEventListener('abort', sweep);

  server.on('request', (_request, response) => {
    younger.add(response);
    response.once('close', () => [older, younger].map((each) => each.delete(response)));
    if (!isWatched) watch();
    isWatched = true;
  });
}
