import { GitError, type GitErrorCode } from '../errors.ts';
import { plainLine } from '../plain-text.ts';
import { remoteError } from '../wire/remote-error.ts';

/** A server's no to a push, in its own words, credentials taken out. */
interface PushRefusal {
  readonly ref: string;
  /** What its report says of the ref, or of the pack; empty for nothing. */
  readonly reason: string;
  /** What it says besides: git shows it as `remote: …`. */
  readonly remarks: string;
}

/**
 * What git itself says of a ref that is no longer where the push expects it (receive-pack, refs.c): the old words, those
 * since git 2.50, and JGit's.
 */
const RACE =
  /^(?:non-fast-forward|fetch first|stale info|incorrect old value provided|reference (?:already exists|does not exist)|lock[ _]failure)\b/i;
const NOT_LOCKED = /^(?:error: )?cannot lock ref /i;
const BY_ANOTHER = / is at [0-9a-f]+ but expected|reference already exists|unable to resolve reference|File exists/i;
const isRace = (text: string): boolean =>
  text.split('\n').some((line) => RACE.test(line) || (NOT_LOCKED.test(line) && BY_ANOTHER.test(line)));

/** git's words for a ref that it could not write, whatever the reason: that is among the remarks. */
const NOT_WRITTEN = /^failed to (?:update ref|lock)\b|^cannot lock ref\b/i;

interface Kind {
  readonly code: Extract<GitErrorCode, 'GIT_FORBIDDEN' | 'GIT_PUSH_REFUSED' | 'GIT_PUSH_NO_ROOM'>;
  readonly words: readonly RegExp[];
  /** Completes "the git server …". */
  readonly says: string;
  readonly remedy: string;
}

/** In the order in which they are asked: a quota is often reported by a hook, and a missing right by a protected ref. */
const KINDS: readonly Kind[] = [
  {
    code: 'GIT_PUSH_NO_ROOM',
    // The system's own words; GitLab, GitHub, Bitbucket, Forgejo, Azure DevOps.
    words: [
      /no space left|quota|(?:size|storage|hard|data) limit|exceed(?:s|ed)? (?:its|the|your|storage)|over the limit|limit exceeded/i,
    ],
    says: 'has no room for notes',
    remedy: 'raise the quota of the repository or free space there, or set NOTES=off',
  },
  {
    code: 'GIT_PUSH_REFUSED',
    words: [
      /archived|read[- ]only (?:mode|instance|repository)|is (?:currently )?read[- ]only|locked for|maintenance/i,
    ],
    says: 'takes no pushes to this repository now',
    remedy: 'unarchive or unlock it, or set NOTES=off',
  },
  {
    code: 'GIT_FORBIDDEN',
    // Azure DevOps (TF401027, TF401019), GitLab, Gitea and Forgejo, Bitbucket, Gerrit, and a disk without the right.
    words: [
      /TF401027|TF401019|insufficient permission|deploy key does not|access denied|forbidden/i,
      /need the git '\w+' permission/i,
      /not (?:allowed|permitted|authorized) to (?:push|upload)(?!(?: code)? to protected)/i,
      /permission (?:to \S+ )?denied|(?:don['’]t|do not) have permission/i,
    ],
    says: 'does not let this credential push notes',
    remedy:
      'give it the right to write (Contribute and Create branch on Azure DevOps, a token with write_repository on GitLab, ' +
      'write access on Gitea), or set NOTES=off',
  },
  {
    code: 'GIT_PUSH_REFUSED',
    words: [
      /hook declined|prohibited|denied|deny|not (?:allowed|permitted)|protected|exists; cannot create|GH0\d\d|TF40\d{4}|VS40\d{4}|push rule|rule violation|does not follow the pattern|is not a member of/i,
    ],
    says: 'has a rule against notes',
    remedy: 'allow pushes to refs/notes/* there (protected refs, push rules, policies, hooks), or set NOTES=off',
  },
];

/**
 * The error for a push that does not count. A race, after which it is tried again at once, only where git's own words say
 * so: what a rule, a right or a quota refuses stays refused, however often it is tried.
 *
 * @returns `GIT_PUSH_RACE`, `GIT_FORBIDDEN`, `GIT_PUSH_REFUSED`, `GIT_PUSH_NO_ROOM`, or `GIT_REMOTE_ERROR` for words that
 *   are unknown, which are tried again later
 */
export function pushError({ ref, reason, remarks }: PushRefusal): GitError {
  const said = plainLine([reason, remarks].filter((text) => text !== '').join(': '), 300);
  if (isRace(reason)) return pushRaceError(ref, said);
  const kind = KINDS.find(({ words }) => words.some((each) => each.test(`${reason}\n${remarks}`)));
  if (kind !== undefined) {
    const { code, says, remedy } = kind;
    return new GitError(code, `the git server ${says} (${ref}): ${said}. To fix this, ${remedy}`);
  }
  if (NOT_WRITTEN.test(reason) && (remarks.trim() === '' || isRace(remarks))) return pushRaceError(ref, said);
  return remoteError(said === '' ? `nothing about ${ref}, which it was sent` : said, (text) => text);
}

/** The ref was not where this process thought it was. */
export const pushRaceError = (ref: string, said: string): GitError =>
  new GitError('GIT_PUSH_RACE', `${ref} was changed by another writer meanwhile${said === '' ? '' : ` (${said})`}`);
