import { retryAfterMs } from '../http/retry-after.ts';
import type { Disposition } from '../runtime/errors.ts';
import type { Millis } from '../runtime/clock.ts';
import { adviceOnRight, type Call, titleOf } from './kube-call.ts';
import { KubeError, type KubeErrorCode } from './kube-error.ts';
import { readStatus, type Status } from './api-status.ts';

/** No server may make us wait longer than this, whatever its Retry-After says. */
const LONGEST_WAIT_MS = 5 * 60_000;

/** An answer that is not a success. */
export interface Refusal {
  readonly status: number;
  /** The decoded body; undefined if it was no JSON. */
  readonly body: unknown;
  /** The Retry-After header. */
  readonly retryAfter?: string | undefined;
  /** The Date header: what a Retry-After that is a date is measured from, because the server's clock may differ from ours. */
  readonly date?: string | undefined;
}

/** The error for an answer that is not a success. `nowMs` is wall-clock time, where the answer has no date of its own. */
export function refusalError(call: Call, { status, body, retryAfter, date }: Refusal, nowMs: Millis): KubeError {
  const said = readStatus(body);
  const code = codeOfRefusal(status, said);
  const waitMs = retryAfterMs(retryAfter, fromHttpDate(date) ?? nowMs) ?? secondsToMs(said?.retryAfterSeconds);
  return new KubeError(code, `cannot ${titleOf(call)}: ${explain(call, code, status, said)}`, {
    status,
    disposition: said?.refusedByBudget === true ? { kind: 'retry' } : dispositionOf(code, waitMs),
  });
}

/** The error for a watch's ERROR event: a Status in an answer that began as a success. */
export function watchError(call: Call, object: unknown): KubeError {
  const said = readStatus(object);
  return refusalError(call, { status: said?.code ?? 0, body: object }, 0);
}

/** The server knows the resource and says that the object is not there (a missing resource is answered without a name). */
export function isMissingObject({ status, body }: Refusal): boolean {
  const said = readStatus(body);
  return status === 404 && said?.reason === 'NotFound' && said.name !== '';
}

function codeOfRefusal(status: number, said: Status | undefined): KubeErrorCode {
  if (status === 409) return said?.reason === 'AlreadyExists' ? 'KUBE_ALREADY_EXISTS' : 'KUBE_CONFLICT';
  if (said?.reason === 'Expired' || said?.reason === 'Gone') return 'KUBE_GONE';
  if (status >= 500) return 'KUBE_SERVER_ERROR';
  if (status < 400) return 'KUBE_GARBLED';
  return CODES[status] ?? 'KUBE_INVALID';
}

const CODES: Readonly<Record<number, KubeErrorCode>> = {
  401: 'KUBE_UNAUTHORIZED',
  403: 'KUBE_FORBIDDEN',
  404: 'KUBE_NOT_FOUND',
  408: 'KUBE_TIMEOUT',
  410: 'KUBE_GONE',
  429: 'KUBE_THROTTLED',
};

function explain(call: Call, code: KubeErrorCode, status: number, said: Status | undefined): string {
  const words = said?.message === undefined || said.message === '' ? `HTTP ${status}` : said.message;
  const named = said !== undefined && said.name !== '';
  if (code === 'KUBE_FORBIDDEN') return isMissingRight(said) ? `${words}. ${adviceOnRight(call)}` : words;
  if (code === 'KUBE_UNAUTHORIZED') return `${words}. The credential is missing, expired or of another cluster`;
  if (code === 'KUBE_NOT_FOUND') return named ? words : `${words}. ${missingResource(call)}`;
  if (code === 'KUBE_GARBLED') return strange(status);
  // A PodDisruptionBudget that refuses is named in a cause, and nowhere else.
  if (code === 'KUBE_THROTTLED' && said !== undefined) return [words, ...said.causes].join(' ');
  return said === undefined ? `${words}, without a Status from the API server` : words;
}

function strange(status: number): string {
  if (status === 0) return 'the watch sent an ERROR event without a Status';
  if (status < 300) return `HTTP ${status}, which the API does not use`;
  return `HTTP ${status}: a redirect, which is not followed. Is the address that of the API server?`;
}

/** 403 is also how quotas, admission and a namespace that is being deleted say no: no right would help there. */
const isMissingRight = (said: Status | undefined): boolean =>
  said === undefined || said.message === '' || /cannot \w+ resource/.test(said.message);

function missingResource({ resource }: Call): string {
  return resource.group.includes('.') && !resource.group.endsWith('.k8s.io')
    ? `The API server does not know ${resource.plural}.${resource.group}/${resource.version}: is the CRD installed?`
    : `The API server does not know ${resource.plural} in version ${resource.version}: is the address right?`;
}

/** Only an overloaded or starting server (429, 5xx) can ask for time. */
function dispositionOf(code: KubeErrorCode, waitMs: Millis | undefined): Disposition {
  const mayAsk = code === 'KUBE_THROTTLED' || code === 'KUBE_SERVER_ERROR';
  return mayAsk && waitMs !== undefined ? { kind: 'wait', ms: Math.min(waitMs, LONGEST_WAIT_MS) } : { kind: 'retry' };
}

const secondsToMs = (seconds: number | undefined): Millis | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

function fromHttpDate(date: string | undefined): Millis | undefined {
  const at = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(at) ? undefined : at;
}
