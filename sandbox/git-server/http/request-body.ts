import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';

const unzip = promisify(gunzip);

/**
 * A request's whole body, unzipped where git zipped it (it does so from 1 KiB on).
 *
 * @param maxBytes most that is kept of what comes over the wire, and most that it may unzip to
 * @throws GitServerError `GIT_REQUEST_TOO_LARGE` or `GIT_REQUEST_MALFORMED`
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // The rest is read and let go: a client that is cut off while it sends never sees why.
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) throw tooLarge(maxBytes);
  const body = Buffer.concat(chunks);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new GitServerError('GIT_REQUEST_MALFORMED', `a body in the encoding "${encoding}" cannot be read`);
  }
  try {
    return await unzip(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new GitServerError('GIT_REQUEST_MALFORMED', 'the body is not the gzip that its header says', {
      cause: error,
    });
  }
}

const tooLarge = (maxBytes: number) =>
  new GitServerError('GIT_REQUEST_TOO_LARGE', `a request holds more than ${maxBytes} bytes`);
