import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Refusal } from '#sandbox/api-server/status/refusal.ts';

/** Answers from this size on are compressed for clients that take it, as kube-apiservers do. */
const COMPRESSED_FROM_BYTES = 128 * 1024;

export function answerJson(request: IncomingMessage, response: ServerResponse, code: number, body: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  const compress = bytes.length > COMPRESSED_FROM_BYTES && /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const sent = compress ? gzipSync(bytes, { level: 1 }) : bytes;
  response.writeHead(code, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
    'content-length': sent.length,
    ...(compress ? { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } : {}),
  });
  response.end(sent);
}

export function answerText(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private' });
  response.end(text);
}

export function answerRefusal(
  response: ServerResponse,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { retryAfterSeconds } = refusal.details ?? {};
  response.writeHead(refusal.code, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...headers,
  });
  response.end(`${JSON.stringify(refusal.status())}\n`);
}
