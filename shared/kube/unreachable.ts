import { describeProxy } from '../http/proxy.ts';
import { certificateFault, isTrustFailure } from '../http/trust-failure.ts';
import { TunnelRefused } from '../http/tunnel-refused.ts';
import type { Millis } from '../runtime/clock.ts';
import { codeOf, reasonOf } from '../runtime/errors.ts';
import { sanitizeUrl } from '../runtime/sanitize.ts';
import { type Call, titleOf } from './kube-call.ts';
import { KubeError } from './kube-error.ts';

/** The error for a request that got no answer. */
export function unreachableError(call: Call, server: URL, proxy: string | undefined, cause: unknown): KubeError {
  const code = cause instanceof TunnelRefused ? cause.answer : codeOf(cause);
  const why = code === undefined ? '' : ` (${code})`;
  const hint = isTrustFailure(cause) ? `: its certificate is ${certificateFault(cause, '').is}` : '';
  const to = sanitizeUrl(server.href).replace(/\/$/, '');
  const message = `cannot ${titleOf(call)}: no answer from ${to}${throughProxy(proxy)}${why}${hint}`;
  return new KubeError('KUBE_UNREACHABLE', message, { cause });
}

/** For a message: what stands between, if anything does. */
export const throughProxy = (proxy: string | undefined): string =>
  proxy === undefined ? '' : ` through the proxy ${describeProxy(proxy)}`;

/** The error for an answer that broke off. */
export function brokenError(call: Call, cause: unknown): KubeError {
  const why = codeOf(cause) ?? reasonOf(cause);
  return new KubeError('KUBE_UNREACHABLE', `cannot ${titleOf(call)}: the connection broke (${why})`, { cause });
}

/** The error for something that took too long. */
export function timeoutError(call: Call, what: string, ms: Millis): KubeError {
  return new KubeError('KUBE_TIMEOUT', `cannot ${titleOf(call)}: ${what} within ${ms / 1000} s`);
}
