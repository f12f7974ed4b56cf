import { GitError, type GitErrorCode } from '../errors.ts';
import { UNTIL_OPERATOR } from '../../../shared/runtime/errors.ts';
import { plainLine } from '../plain-text.ts';

interface Meaning {
  readonly said: RegExp;
  readonly code: GitErrorCode;
  readonly why: string;
  readonly lasting: boolean;
}

/** What ssh, git and the forges write to standard error, from the most telling. */
const MEANINGS: readonly Meaning[] = [
  {
    said: /host key verification failed|host identification has changed|host key is known/i,
    code: 'GIT_UNTRUSTED',
    why: 'the server’s host key is not in known_hosts, or is another one',
    lasting: true,
  },
  {
    said: /unprotected private key|bad permissions|invalid format|error in libcrypto|": permission denied/i,
    code: 'GIT_CREDENTIALS_UNREADABLE',
    why: 'ssh does not take the private key: a passphrase, a wrong format, or a file that others may read',
    lasting: true,
  },
  {
    said: /permission denied \(|too many authentication failures|no supported authentication/i,
    code: 'GIT_UNAUTHORIZED',
    why: 'the server does not take this key',
    lasting: true,
  },
  {
    said: /does not appear to be a git repository|repository not found|could not be found|no such project|not found/i,
    code: 'GIT_NOT_FOUND',
    why: 'there is no such repository, or the key may not see it',
    lasting: true,
  },
  {
    said: /read.?only|not allowed|permission|denied|forbidden|access rights|write access/i,
    code: 'GIT_FORBIDDEN',
    why: 'the key does not allow this',
    lasting: true,
  },
  {
    said: /timed out|timeout/i,
    code: 'GIT_TIMEOUT',
    why: 'no connection in time',
    lasting: false,
  },
  {
    said: /could not resolve|connection refused|no route|network is unreachable|connection (?:reset|closed)|closed by remote/i,
    code: 'GIT_UNREACHABLE',
    why: 'no connection',
    lasting: false,
  },
];

/**
 * The error for a call of ssh that failed.
 *
 * @param stderr what it wrote there, of strangers
 * @param exitCode 255 where ssh itself failed; anything else is the command's on the server
 */
export function sshErrorOf(shown: string, exitCode: number | null, stderr: string): GitError {
  const said = plainLine(stderr, 300);
  const found = MEANINGS.find((meaning) => meaning.said.test(stderr));
  const remark = said === '' ? '' : `: ${said}`;
  if (found !== undefined) {
    return new GitError(found.code, `${shown}: ${found.why}${remark}`, {
      disposition: found.lasting ? UNTIL_OPERATOR : { kind: 'retry' },
    });
  }
  const code = exitCode === 255 ? 'GIT_UNREACHABLE' : 'GIT_REMOTE_ERROR';
  return new GitError(code, `${shown}: ssh ended with ${exitCode ?? 'a signal'}${remark}`);
}
