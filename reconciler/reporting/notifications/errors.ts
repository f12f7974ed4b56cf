import { type Disposition, GitopsError } from '#shared/runtime/errors.ts';

/** What a receiver of notifications (or the way to it) said no with. */
export type NotificationErrorCode =
  /** A file with an address, a key or authorities is missing, or holds something else. */
  | 'NOTIFICATION_SECRET_UNUSABLE'
  /** No connection, or no complete answer in time. */
  | 'NOTIFICATION_UNREACHABLE'
  /** A redirect, which is not followed: the message would go elsewhere. */
  | 'NOTIFICATION_MOVED'
  /** 401, 403, 404, 405, 410, 414, 421 or 431: the address or the key is no longer right. */
  | 'NOTIFICATION_UNAUTHORIZED'
  /** 429. */
  | 'NOTIFICATION_THROTTLED'
  /** 408 and 5xx. */
  | 'NOTIFICATION_SERVER_ERROR'
  /** Any other 4xx: the receiver does not take this message; perhaps it takes none. */
  | 'NOTIFICATION_REFUSED';

export class NotificationError extends GitopsError<NotificationErrorCode> {
  constructor(
    code: NotificationErrorCode,
    message: string,
    detail: { readonly disposition?: Disposition; readonly cause?: unknown } = {},
  ) {
    super(code, message, detail);
    this.name = 'NotificationError';
  }
}

export const isNotificationError = (
  thrown: unknown,
  ...codes: readonly NotificationErrorCode[]
): thrown is NotificationError =>
  thrown instanceof NotificationError && (codes.length === 0 || codes.includes(thrown.code));
