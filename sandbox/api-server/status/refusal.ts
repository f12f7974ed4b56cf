import type { Json } from '#sandbox/api-server/stored-object.ts';

/** One reason why an object was not accepted (`metav1.StatusCause`). */
export interface Cause {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueTypeInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong';
  readonly message: string;
  /** Path of the field, `spec.trial.duration`. */
  readonly field: string;
}

/** The `details` of a `metav1.Status`. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly (Cause | { readonly reason: string; readonly message: string })[];
  readonly retryAfterSeconds?: number;
}

/** A request that the server answers with a failure. */
export class Refusal extends Error {
  readonly code: number;
  /** Absent for the few errors that the real server does not classify. */
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;

  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The body: a `metav1.Status`. */
  status(): Json {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}
