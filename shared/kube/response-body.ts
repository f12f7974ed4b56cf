import type { IncomingMessage } from 'node:http';
import { type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import { chunksOf, collectBody } from '../http/body.ts';
import type { Lifetime } from '../runtime/lifetime.ts';
import { type Call, titleOf } from './kube-call.ts';
import { KubeError } from './kube-error.ts';
import { brokenError } from './unreachable.ts';

export const MIB = 1024 * 1024;

/** The body's bytes as they come, unpacked. Stopping early, and any error, destroys the connection. */
export async function* unpackedChunks(call: Call, response: IncomingMessage, life: Lifetime): AsyncGenerator<Buffer> {
  try {
    yield* chunksOf(unpacked(response), life);
  } catch (error) {
    throw life.signal.aborted ? error : brokenError(call, error);
  }
}

/** Only what we asked for comes packed. An error on either side ends both. */
function unpacked(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  const gunzip = createGunzip();
  response.on('error', (error) => gunzip.destroy(error));
  gunzip.on('error', () => response.destroy());
  gunzip.on('close', () => {
    if (!response.complete) response.destroy();
  });
  return response.pipe(gunzip);
}

/** The whole body as text, UTF-8. @throws KUBE_TOO_LONG if it is longer than `maxBytes` */
export async function readText(
  call: Call,
  response: IncomingMessage,
  life: Lifetime,
  maxBytes: number,
): Promise<string> {
  const tooLong = (): KubeError =>
    new KubeError('KUBE_TOO_LONG', `cannot ${titleOf(call)}: the answer is longer than ${maxBytes / MIB} MiB`);
  return (await collectBody(unpackedChunks(call, response, life), { maxBytes, tooLong })).toString('utf8');
}

/**
 * The lines of a body as they become complete, the last one also without its line feed; empty ones are left out.
 * A character that is split over chunks is put together again.
 *
 * @throws KUBE_GARBLED where the bytes are no UTF-8 or a line is longer than `maxLength` UTF-16 units
 */
export async function* linesOf(
  call: Call,
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  /** Of a line that is not complete: put together once, in however small pieces it comes. */
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...lines] = decode(call, () => decoder.decode(chunk, { stream: true })).split('\n');
    parts.push(first);
    length += first.length;
    const last = lines.pop();
    if (last !== undefined) {
      yield* [parts.join(''), ...lines].filter((line) => line !== '');
      parts = [last];
      length = last.length;
    }
    if (length > maxLength) throw malformedBody(call, `an event is longer than ${maxLength} characters`);
  }
  const rest = parts.join('') + decode(call, () => decoder.decode());
  if (rest !== '') yield rest;
}

function decode(call: Call, decoding: () => string): string {
  try {
    return decoding();
  } catch (error) {
    throw malformedBody(call, 'the answer is not UTF-8', error);
  }
}

/** A decoded JSON text. @throws KUBE_GARBLED */
export function parseJson(call: Call, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message quotes the text, which may be anything.
    throw malformedBody(call, `the answer is not JSON (${text.length} characters)`);
  }
}

/** @param why about the answer, in a clause that quotes nothing of it: it may be anything */
export function malformedBody(call: Call, why: string, cause?: unknown): KubeError {
  return new KubeError('KUBE_GARBLED', `cannot ${titleOf(call)}: ${why}`, { cause });
}
