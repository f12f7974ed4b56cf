import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Lifetime, Limit } from '../runtime/lifetime.ts';
import { arm, sendRequest, type OutgoingRequest } from './send-request.ts';

/**
 * The bytes of a stream as they come. An early stop and any error destroy the stream.
 *
 * @param silence longest wait for the next bytes; the reader's own time does not count
 * @param first   longest wait for the first bytes
 * @throws the lifetime's reason after a cut, otherwise the stream's error
 */
export async function* chunksOf(
  stream: Readable,
  life: Lifetime,
  silence?: Limit,
  first = silence,
): AsyncGenerator<Buffer> {
  let disarm = arm(life, first);
  try {
    for await (const chunk of stream) {
      disarm();
      yield chunk as Buffer;
      disarm = arm(life, silence);
    }
  } catch (error) {
    throw life.signal.aborted ? life.signal.reason : error;
  } finally {
    disarm();
  }
}

export interface Bounds {
  readonly maxBytes: number;
  /** Makes the error for a longer body. */
  readonly tooLong: () => Error;
  /** Called after each chunk: whether the rest can be left unread. */
  readonly enough?: (chunks: readonly Buffer[], bytes: number) => boolean;
}

/**
 * Hands a body of at most `maxBytes` on as it comes, so that it is nowhere held as a whole.
 *
 * @param take takes a chunk in; says whether the rest can be left unread
 * @returns whether it was
 * @throws what `tooLong` makes; errors of `chunks` and `take`
 */
export async function streamBody(
  chunks: AsyncIterable<Buffer>,
  { maxBytes, tooLong }: Pick<Bounds, 'maxBytes' | 'tooLong'>,
  take: (chunk: Buffer) => boolean,
): Promise<boolean> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong();
    if (take(chunk)) return true;
  }
  return false;
}

/** Collects a body of at most `maxBytes`. @throws what `tooLong` makes; errors of `chunks` */
export async function collectBody(chunks: AsyncIterable<Buffer>, bounds: Bounds): Promise<Buffer> {
  const all: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    all.push(chunk);
    bytes += chunk.length;
    if (bounds.enough?.(all, bytes) === true) break;
    if (bytes > bounds.maxBytes) throw bounds.tooLong();
  }
  return Buffer.concat(all);
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends one request and reads the whole answer. @throws as `exchange`, `chunksOf` and `gather` do */
export async function sendAndCollect(outgoing: OutgoingRequest, life: Lifetime, bounds: Bounds): Promise<HttpAnswer> {
  const response = await sendRequest(outgoing, life);
  const body = await collectBody(chunksOf(response, life, outgoing.silence), bounds);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
