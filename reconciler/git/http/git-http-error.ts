import type { HttpAnswer } from '#shared/http/body.ts';
import { retryAfterMs } from '#shared/http/retry-after.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { GitError, type GitErrorCode } from '../errors.ts';
import { plainLine } from '../plain-text.ts';

/** Longest Retry-After that is obeyed: a day's pause must not come from a stranger's typing error. */
const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * The error for a status that is no success.
 *
 * @param what  the repository, `https://host/path.git`
 * @param clean takes credentials out of a text
 * @param now   wall-clock time, because Retry-After may be a date
 */
export function gitHttpError(answer: HttpAnswer, what: string, clean: (text: string) => string, now: Millis): GitError {
  const waitMs = retryAfter(answer.headers['retry-after'], now);
  // nginx says so in a page.
  const certificate = answer.status === 400 && /SSL certificate/i.test(answer.body.toString('latin1'));
  const [code, why] = certificate ? WANTS_CERTIFICATE : meaningOf(answer.status, waitMs !== null);
  const said = /^text\/plain\b/.test(answer.headers['content-type'] ?? '') ? answer.body.toString('utf8') : '';
  const remark = plainLine(clean(said), 200);
  const message = `${what}: ${why} (status ${answer.status})${remark === '' ? '' : `: ${remark}`}`;
  return new GitError(code, message, waitMs === null ? {} : { disposition: { kind: 'wait', ms: waitMs } });
}

type Meaning = readonly [code: GitErrorCode, why: string];

const WANTS_CERTIFICATE: Meaning = [
  'GIT_UNAUTHORIZED',
  'the server wants a certificate of ours, or another one: put tls.crt and tls.key beside the git credential',
];

function meaningOf(status: number, asksForPause: boolean): Meaning {
  switch (status) {
    case 401:
    case 203:
      return ['GIT_UNAUTHORIZED', 'the credential is missing, wrong or has expired'];
    case 403:
      return asksForPause
        ? ['GIT_THROTTLED', 'too many requests']
        : ['GIT_FORBIDDEN', 'the credential does not allow this'];
    case 404:
      return ['GIT_NOT_FOUND', 'there is no such repository, or the credential may not see it'];
    case 407:
      return ['GIT_FORBIDDEN', 'the proxy on the way wants a credential, or another one'];
    case 429:
      return ['GIT_THROTTLED', 'too many requests'];
    default:
      if (status === 503 && asksForPause) return ['GIT_THROTTLED', 'the server asks for a pause'];
      return status >= 500
        ? ['GIT_SERVER_ERROR', 'the server failed']
        : ['GIT_REFUSED', 'the server refused the request'];
  }
}

/** The time that a server asks for, up to the longest that is obeyed; null for none. */
export function retryAfter(header: string | undefined, now: Millis): Millis | null {
  const ms = retryAfterMs(header, now);
  return ms === undefined ? null : Math.min(LONGEST_WAIT_MS, ms);
}
