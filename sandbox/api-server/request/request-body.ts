import type { IncomingMessage } from 'node:http';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { badRequest, unsupportedMediaType } from '#sandbox/api-server/status/status-refusals.ts';

/** A patch as it was sent. */
export interface SentPatch {
  readonly body: unknown;
  /** Lists are merged as the type says, instead of being replaced. */
  readonly strategic: boolean;
}

/** kube-apiservers' limit. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** The bytes of a request. @throws Refusal 413 */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    // The rest is read and dropped, so that the client gets to see the answer.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length <= MAX_BODY_BYTES) return Buffer.concat(chunks);
  const message = `Request entity too large: limit is ${MAX_BODY_BYTES}`;
  throw new Refusal(413, 'RequestEntityTooLarge', message);
}

/** An object as a body. @throws Refusal 415, 400 */
export function objectIn(request: IncomingMessage, bytes: Buffer): unknown {
  const type = mediaType(request);
  if (type !== '' && type !== 'application/json') throw unsupportedMediaType(['application/json']);
  return parse(bytes);
}

/** The options of a deletion: none where the body is empty. @throws Refusal 415, 400 */
export function optionsIn(request: IncomingMessage, bytes: Buffer): unknown {
  return bytes.length === 0 ? {} : objectIn(request, bytes);
}

const STRATEGIC = 'application/strategic-merge-patch+json';

/**
 * A merge patch. Built-in types take strategic merge patches as well, which is what kubectl sends for a label. JSON patches
 * and server-side apply are left out.
 *
 * @throws Refusal 415, 400
 */
export function patchIn(request: IncomingMessage, bytes: Buffer, { origin }: ServedResource): SentPatch {
  const type = mediaType(request);
  const accepted = ['application/merge-patch+json', ...(origin === 'built-in' ? [STRATEGIC] : [])];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return { body: parse(bytes), strategic: type === STRATEGIC };
}

const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw badRequest(`the object provided is unrecognized: couldn't get version/kind; json parse error: ${why}`);
  }
}
