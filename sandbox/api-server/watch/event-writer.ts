import type { ServerResponse } from 'node:http';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';

/** Writes the events of one watch, a line of JSON each. */
export interface EventWriter {
  readonly event: (type: string, object: StoredObject) => void;
  /** The last thing that is said: why the watch cannot go on. */
  readonly error: (status: Json) => void;
}

/** A client that leaves this many bytes lying is cut off, as the real server does with slow watchers. */
const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/** Opens the stream: the client hears at once that the watch stands. */
export function openEvents(response: ServerResponse, project: (object: StoredObject) => Json): EventWriter {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  const line = (type: string, object: Json): void => {
    // Between its end and the news of it, a watch can still hear of changes.
    if (response.destroyed || response.writableEnded) return;
    response.write(`${JSON.stringify({ type, object })}\n`);
    if (response.writableLength > MOST_UNSENT_BYTES) response.destroy();
  };
  return {
    event: (type, object) => line(type, project(object)),
    error(status) {
      line('ERROR', status);
      response.end();
    },
  };
}
