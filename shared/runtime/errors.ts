/** What the loop that catches an error does next. */
export type Disposition =
  /** Try again after the usual back-off. */
  | { readonly kind: 'retry' }
  /** Try again, but not before `ms` milliseconds have passed (a server's Retry-After, say). */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Trying again cannot help until the world changes. */
  | { readonly kind: 'stalled'; readonly until: 'new-commit' | 'operator' };

interface ErrorDetail {
  readonly disposition?: Disposition;
  /** Facts for the log line; never a credential, never a URL that may hold one. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The one error class of the project. `message` is written for the person who reads it at night: what failed, where,
 * why, and what to do. `code` is stable and comes from a closed union of the module that throws it.
 */
export class GitopsError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly disposition: Disposition;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'GitopsError';
    this.code = code;
    this.disposition = detail.disposition ?? { kind: 'retry' };
    this.fields = detail.fields ?? {};
  }
}

/** The message of anything that was thrown, followed by its causes' messages, on one line. */
export function reasonOf(thrown: unknown): string {
  const parts: string[] = [];
  let current: unknown = thrown;
  for (let depth = 0; depth < 5 && current !== undefined && current !== null; depth += 1) {
    const text = messageOf(current);
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(': ');
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? typeof thrown);
}

/** The stable code of a thrown error (`GIT_TIMEOUT`, `ENOSPC` …), or undefined without one. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** For the default branch of an exhaustive switch: a compile error when a case is missing. */
export function unreachable(value: never): never {
  throw new GitopsError('UNREACHABLE', `a case that the types rule out was reached: ${JSON.stringify(value)}`);
}
