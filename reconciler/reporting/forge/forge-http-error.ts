import type { HttpAnswer } from '#shared/http/body.ts';
import { retryAfterMs } from '#shared/http/retry-after.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { plainLine } from '../../git/plain-text.ts';
import { ForgeError, type ForgeErrorCode } from './errors.ts';

const LONGEST_WAIT_MS: Millis = 60 * 60_000;
/** What GitHub asks for in an answer without a time (docs.github.com: rate limits for the REST API). */
const USUAL_WAIT_MS: Millis = 60_000;

/**
 * The error for an answer that is no success.
 *
 * @param text what the forge says, without the token
 * @param now  wall-clock time, because some forges say when they open again
 */
export function forgeErrorOf({ status, headers }: HttpAnswer, url: URL, text: string, now: Millis): ForgeError {
  const said = plainLine(text, 300);
  const waitMs = pauseOf(status, headers, text, now);
  const [code, why] = meaningOf(status, waitMs !== null);
  const more = [movedTo(status, headers, url), neededBy(code, headers)].filter((part) => part !== '').join('');
  const message = `${shown(url)}: ${why}${more} (status ${status})${said === '' ? '' : `: ${said}`}`;
  if (waitMs === null) return new ForgeError(code, message);
  return new ForgeError(code, message, { disposition: { kind: 'wait', ms: Math.min(waitMs, LONGEST_WAIT_MS) } });
}

/** The repository as the forge's API was asked for it: most mistakes can be seen in it. */
const shown = ({ host, pathname }: URL): string =>
  plainLine(`${host}${pathname.split(/\/(?:repository\/)?(?:commits|statuses)\//, 1)[0] ?? ''}`, 300);

/**
 * How long the forge wants to be left alone; null for not at all. GitHub says so with 403 or 429: after Retry-After, at the
 * reset of a limit that is used up, and for its secondary limits sometimes in words alone.
 */
function pauseOf(status: number, headers: HttpAnswer['headers'], text: string, now: Millis): Millis | null {
  const said = retryAfterMs(headers['retry-after'], now) ?? null;
  if (said !== null || (status !== 403 && status !== 429)) return said;
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN) * 1000 - now;
  if (headers['x-ratelimit-remaining'] === '0') return Number.isNaN(reset) ? USUAL_WAIT_MS : Math.max(0, reset);
  return status === 403 && /rate limit|abuse detection/i.test(text) ? USUAL_WAIT_MS : null;
}

/** Redirects are not followed, because the token would go along. */
function movedTo(status: number, { location = '' }: HttpAnswer['headers'], from: URL): string {
  const to = status >= 300 && status <= 399 ? URL.parse(location, from.href) : null;
  return to === null ? '' : plainLine(`, it points to ${to.host}${to.pathname}`, 200);
}

/** GitHub says what a token would have to be allowed. */
function neededBy(code: ForgeErrorCode, headers: HttpAnswer['headers']): string {
  const needed = headers['x-accepted-github-permissions'] ?? headers['x-accepted-oauth-scopes'] ?? '';
  return code === 'FORGE_FORBIDDEN' && typeof needed === 'string' && needed !== ''
    ? plainLine(`, the forge asks for ${needed}`, 100)
    : '';
}

function meaningOf(status: number, asksForPause: boolean): readonly [code: ForgeErrorCode, why: string] {
  if (status === 429 || (status === 403 && asksForPause)) return ['FORGE_THROTTLED', 'too many requests'];
  if (status >= 500) return ['FORGE_SERVER_ERROR', 'the forge failed'];
  // Too slow, or at the same moment as another status of the commit: the next time it may go through.
  if (status === 408 || status === 409) return ['FORGE_SERVER_ERROR', 'the forge was busy'];
  if (status === 401) return ['FORGE_UNAUTHORIZED', 'the token is missing, wrong or has expired'];
  if (status === 403) return ['FORGE_FORBIDDEN', 'the token may not read or write statuses here'];
  if (status === 404) return ['FORGE_FORBIDDEN', 'there is no such repository or commit, or the token may not see it'];
  if (status >= 300 && status <= 399) return ['FORGE_MOVED', 'the repository was renamed, or the API is elsewhere'];
  return ['FORGE_REFUSED', 'the forge does not take this'];
}
