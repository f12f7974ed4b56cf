import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

/** A line about a fault, as often as a person wants to read of it. */
type LogFault = (fields: Readonly<Record<string, unknown>>, message: string) => void;

const SPAN_MS: Millis = 60 * 60_000;
/** Of one message. A fault whose words change with every try has not become another one each time. */
const MOST_TEXTS = 4;

/**
 * The log for what fails again and again: the same text once an hour, and of one message no more than a few texts an hour,
 * also where a fault comes and goes. Where the node stands now is for the status to say.
 */
export function createLogLimiter(log: Pick<Log, 'warn' | 'error'>, clock: Pick<Clock, 'monotonic'>) {
  const logged = new Map<string, { readonly since: Millis; readonly texts: Set<string> }>();
  const isNews = (message: string, fields: Readonly<Record<string, unknown>>, most = Infinity): boolean => {
    const now = clock.monotonic();
    const before = logged.get(message);
    const known =
      before !== undefined && now - before.since < SPAN_MS ? before : { since: now, texts: new Set<string>() };
    logged.set(message, known);
    const { err, ...rest } = fields;
    const text = JSON.stringify([rest, err === undefined ? '' : reasonOf(err)]);
    if (known.texts.has(text) || known.texts.size >= most) return false;
    known.texts.add(text);
    return true;
  };
  const at =
    (level: 'warn' | 'error'): LogFault =>
    (fields, message) => {
      if (isNews(message, fields, MOST_TEXTS)) log[level](fields, message);
    };
  return { warn: at('warn'), error: at('error'), isNews };
}
