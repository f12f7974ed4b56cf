import { pino, type Logger } from 'pino';
import { codeOf, GitopsError, reasonOf } from './errors.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

interface LogOptions {
  readonly level: string;
  /** Goes on every line: the program's name, the cluster, the node. */
  readonly base: Readonly<Record<string, string>>;
}

/**
 * One JSON line a decision, on standard output. Messages are constant; what varies goes into the fields
 * `commit`, `pool`, `node`, `config`, `reason`, `err`.
 */
export function createLog({ level, base }: LogOptions): Log {
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    pino.destination({ sync: true }),
  );
}

/** What a log line says of an error: the whole chain of reasons and the code; the stack only of our own mistakes. */
export function describeError(thrown: unknown): Record<string, unknown> {
  const code = codeOf(thrown);
  const own = thrown instanceof GitopsError;
  return {
    message: reasonOf(thrown),
    ...(code === undefined ? {} : { code }),
    ...(own ? thrown.fields : {}),
    ...(!own && thrown instanceof Error && code === undefined ? { stack: thrown.stack } : {}),
  };
}

/** Drops everything: for tests and for callers that do not want lines. */
export const silentLog: Log = pino({ level: 'silent' });
