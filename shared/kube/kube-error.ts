import type { Millis } from '../runtime/clock.ts';
import { GitopsError, type Disposition } from '../runtime/errors.ts';

/** What the API server (or the way to it) said no with. */
export type KubeErrorCode =
  /** 404: the object that was to be written is not there, or (on any verb) the whole resource: no CRD, no namespace. */
  | 'KUBE_NOT_FOUND'
  /** 409 AlreadyExists on create. */
  | 'KUBE_ALREADY_EXISTS'
  /** 409: the resourceVersion or uid given is not the present one. */
  | 'KUBE_CONFLICT'
  /** 401: the token is missing, expired or wrong. */
  | 'KUBE_UNAUTHORIZED'
  /** 403: a right is missing, and the message names it; or a quota or admission says no. */
  | 'KUBE_FORBIDDEN'
  /** 410: the resourceVersion is too old, list again. */
  | 'KUBE_GONE'
  /** 400, 405, 413, 415, 422: the object was refused. */
  | 'KUBE_INVALID'
  /** 429. */
  | 'KUBE_THROTTLED'
  /** 5xx. */
  | 'KUBE_SERVER_ERROR'
  /** No connection, reset, TLS failure. */
  | 'KUBE_UNREACHABLE'
  /** No complete answer in time, or a watch that the server did not end in time. */
  | 'KUBE_TIMEOUT'
  /** The answer was no JSON, not of the expected shape, or a redirect. */
  | 'KUBE_GARBLED'
  /** The answer was longer than what may be in memory at once. */
  | 'KUBE_TOO_LONG'
  /** The caller's signal aborted the call. */
  | 'KUBE_ABORTED';

export class KubeError extends GitopsError<KubeErrorCode> {
  /** HTTP status, 0 where there was none. */
  readonly status: number;

  constructor(
    code: KubeErrorCode,
    message: string,
    detail: { readonly status?: number; readonly disposition?: Disposition; readonly cause?: unknown } = {},
  ) {
    super(code, message, {
      ...(detail.disposition === undefined ? {} : { disposition: detail.disposition }),
      ...(detail.cause === undefined ? {} : { cause: detail.cause }),
    });
    this.name = 'KubeError';
    this.status = detail.status ?? 0;
  }
}

/** Whether the API server, or the way to it, said no; with one of these codes where any are given. */
export function isKubeError(thrown: unknown, ...codes: readonly KubeErrorCode[]): thrown is KubeError {
  return thrown instanceof KubeError && (codes.length === 0 || codes.includes(thrown.code));
}

/** How long the API server asked to be left alone by this answer; undefined if it did not. */
export function askedToWaitMs(thrown: unknown): Millis | undefined {
  return thrown instanceof GitopsError && thrown.disposition.kind === 'wait' ? thrown.disposition.ms : undefined;
}
