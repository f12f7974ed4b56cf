import { GitError, type GitErrorCode } from '../errors.ts';
import { plainLine } from '../plain-text.ts';

type Meaning = readonly [said: RegExp, code: GitErrorCode, why: string];

/** What ssh, git and the forges write to standard error, from the most telling. */
const MEANINGS: readonly Meaning[] = [
  [
    /host key verification failed|host identification has changed|host key is known/i,
    'GIT_UNTRUSTED',
    'the server’s host key is not in known_hosts, or is another one',
  ],
  [
    /unprotected private key|bad permissions|invalid format|error in libcrypto|": permission denied/i,
    'GIT_CREDENTIALS_UNREADABLE',
    'ssh does not take the private key: a passphrase, a wrong format, or a file that others may read',
  ],
  [
    /permission denied \(|too many authentication failures|no supported authentication/i,
    'GIT_UNAUTHORIZED',
    'the server does not take this key',
  ],
  [
    /does not appear to be a git repository|repository not found|could not be found|no such project|not found/i,
    'GIT_NOT_FOUND',
    'there is no such repository, or the key may not see it',
  ],
  [
    /read.?only|not allowed|permission|denied|forbidden|access rights|write access/i,
    'GIT_FORBIDDEN',
    'the key does not allow this',
  ],
  [/timed out|timeout/i, 'GIT_TIMEOUT', 'no connection in time'],
  [
    /could not resolve|connection refused|no route|network is unreachable|connection (?:reset|closed)|closed by remote/i,
    'GIT_UNREACHABLE',
    'no connection',
  ],
];

/**
 * The error for a call of ssh that failed.
 *
 * @param stderr what it wrote there, of strangers
 * @param exitCode 255 where ssh itself failed; anything else is the command's on the server
 */
export function sshErrorOf(shown: string, exitCode: number | null, stderr: string): GitError {
  const said = plainLine(stderr, 300);
  const remark = said === '' ? '' : `: ${said}`;
  const found = MEANINGS.find(([words]) => words.test(stderr));
  if (found !== undefined) return new GitError(found[1], `${shown}: ${found[2]}${remark}`);
  const code = exitCode === 255 ? 'GIT_UNREACHABLE' : 'GIT_REMOTE_ERROR';
  return new GitError(code, `${shown}: ssh ended with ${exitCode ?? 'a signal'}${remark}`);
}
