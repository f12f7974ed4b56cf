import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { chunksOf, collectBody, streamBody, type HttpAnswer } from '#shared/http/body.ts';
import { sendRequest } from '#shared/http/send-request.ts';
import { certificateFault, isTrustFailure } from '#shared/http/trust-failure.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError } from '../errors.ts';
import type { RequestDeadlines } from '../request-deadlines.ts';
import { withBufferGc, type Take } from '../wire/pack-answer.ts';
import type { ProxyAgents } from './connection-agents.ts';
import { TunnelRefused } from '#shared/http/tunnel-refused.ts';

export interface GitRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Longest answer that is read. */
  readonly maxBytes: number;
  /** Takes in the body of an answer with success and such headers, in place of `HttpAnswer.body`, which is empty then. */
  readonly into?: { readonly take: Take; readonly fits: (headers: IncomingHttpHeaders) => boolean } | undefined;
}

/** How much of an answer without success is kept for the error message. */
const MOST_OF_A_REFUSAL = 4096;

/**
 * One request and its answer; the body of an answer without success is cut short.
 *
 * @throws GitError `GIT_UNREACHABLE`, `GIT_UNTRUSTED`, `GIT_CUT`, `GIT_TOO_BIG`, or what patience was lost with
 */
export async function sendGitRequest(
  { maxBytes, into, ...asked }: GitRequest,
  way: ProxyAgents,
  patience: RequestDeadlines,
): Promise<HttpAnswer> {
  const { life, connect, idle } = patience;
  const { url } = asked;
  const { agent, proxy } = url.protocol === 'https:' ? way.https : way.http;
  let response: IncomingMessage;
  try {
    // A push can be repeated too: it names the commit that it replaces.
    response = await sendRequest({ ...asked, over: { agent }, repeatable: true, connect, silence: idle }, life);
  } catch (error) {
    throw life.signal.aborted ? error : unreachable(url, proxy, error);
  }
  const status = response.statusCode ?? 0;
  try {
    const { headers } = response;
    const chunks = chunksOf(response, life, idle);
    const bounds = { maxBytes, tooLong: () => tooLong(url, maxBytes) };
    if (status === 200 && into?.fits(headers) === true) {
      await streamBody(chunks, bounds, withBufferGc(into.take));
      return { status, headers, body: Buffer.alloc(0) };
    }
    const enough = status === 200 ? () => false : (_: unknown, bytes: number) => bytes >= MOST_OF_A_REFUSAL;
    return { status, headers, body: await collectBody(chunks, { ...bounds, enough }) };
  } catch (error) {
    if (error instanceof GitError) throw error;
    throw new GitError('GIT_CUT', `the answer of ${url.host} broke off (${codeOf(error) ?? 'no reason given'})`);
  }
}

function tooLong(url: URL, maxBytes: number): GitError {
  return new GitError('GIT_TOO_BIG', `${url.host} sends more than the ${maxBytes} bytes that are read of one answer`);
}

/** The alerts (RFC 8446, 6.2) with which a server refuses what it was shown, or that it was shown nothing. */
const isCertificateAlert = (code: string): boolean =>
  code.startsWith('ERR_SSL_') && code.includes('ALERT_') && /CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE/.test(code);

function unreachable(url: URL, proxy: string | undefined, cause: unknown): GitError {
  const code = codeOf(cause) ?? '';
  if (isTrustFailure(cause)) {
    const { is, help } = certificateFault(cause, 'is a private certificate authority missing?');
    return new GitError('GIT_UNTRUSTED', `the certificate of ${url.host} is ${is} (${code}): ${help}`, { cause });
  }
  if (isCertificateAlert(code)) {
    return new GitError(
      'GIT_UNAUTHORIZED',
      `${url.host} wants a certificate of ours, or another one (${code}): put tls.crt and tls.key beside the git credential`,
      { cause },
    );
  }
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const status = cause instanceof TunnelRefused ? cause.answer : code;
  return new GitError('GIT_UNREACHABLE', `no answer from ${url.host}${way}${status === '' ? '' : ` (${status})`}`, {
    cause,
  });
}
