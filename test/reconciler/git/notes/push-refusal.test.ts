import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GitErrorCode } from '#reconciler/git/errors.ts';
import { pushError } from '#reconciler/git/notes/push-refusal.ts';

const REF = 'refs/notes/kubelet-gitops/prod';
const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)];

type Row = readonly [from: string, reason: string, remarks?: string];
const FAILED = 'failed to update ref';
const HOOK = 'pre-receive hook declined';
const locked = (why: string): string => `error: cannot lock ref '${REF}': ${why}\n`;
const lockFile = (why: string): string => locked(`Unable to create '/srv/x.git/${REF}.lock': ${why}`);

const RACES: readonly Row[] = [
  ['git, a rewrite', 'non-fast-forward'],
  ['a client’s words, as proxies repeat them', 'fetch first'],
  ['git, a lease', 'stale info'],
  ['git before 2.50', FAILED, locked(`is at ${OLD} but expected ${NEW}`)],
  ['git before 2.50, two at once', FAILED, locked('reference already exists')],
  ['git, a lock that another process holds', FAILED, lockFile('File exists.')],
  ['git without side band', FAILED],
  ['git 2.50', 'incorrect old value provided'],
  ['git 2.50, a ref that is new', 'reference already exists'],
  ['git, in the report itself', `cannot lock ref '${REF}': is at ${OLD} but expected ${NEW}`],
  [
    'a forge that advertises while it says so',
    'non-fast-forward',
    'This branch is protected. Permission denied? Ask us.',
  ],
];

const FORBIDDEN: readonly Row[] = [
  [
    'Azure DevOps',
    "TF401027: You need the Git 'GenericContribute' permission to perform this action. Details: identity 'x', scope 'repository'.",
  ],
  ['Azure DevOps, create', "TF401027: You need the Git 'CreateBranch' permission to perform this action."],
  ['GitLab', HOOK, 'GitLab: You are not allowed to push code to this project.\n'],
  ['Gitea', HOOK, 'Gitea: User permission denied for writing.\n'],
  ['in words of nobody’s own', "You don't have permission to push changes to this branch"],
  ['a disk without the right', FAILED, lockFile('Permission denied')],
  [
    'git’s object database',
    'unpacker error',
    'error: insufficient permission for adding an object to repository database objects\n',
  ],
];

const NO_ROOM: readonly Row[] = [
  ['a full disk', 'No space left on device'],
  ['a disk’s quota', 'unpacker error', 'fatal: write error: Disk quota exceeded\n'],
  ['Forgejo', HOOK, 'Forgejo: Quota exceeded\n'],
  ['GitLab', HOOK, 'GitLab: Your push to this repository would cause it to exceed the namespace storage limit.\n'],
  [
    'GitLab, a repository',
    HOOK,
    'Your push has been rejected, because this repository has exceeded its size limit of 10 GB by 1 MB.\n',
  ],
  ['Bitbucket', HOOK, 'Repository size limit exceeded: push rejected\n'],
];

const REFUSED: readonly Row[] = [
  ['git, a hook', 'hook declined', 'notes are not wanted here\n'],
  ['git, a hidden ref', 'deny updating a hidden ref'],
  [
    'git, a file where a folder is to be',
    FAILED,
    `error: 'refs/notes/kubelet-gitops' exists; cannot create '${REF}'\n`,
  ],
  ['GitHub', 'push declined due to repository rule violations', 'error: GH013: Repository rule violations found\n'],
  ['GitHub, archived', 'remote rejected', 'This repository was archived so it is read-only.\n'],
  [
    'GitLab, a protected ref',
    HOOK,
    'GitLab: You are not allowed to push code to protected branches on this project.\n',
  ],
  ['GitLab, a push rule', HOOK, "GitLab: Commit author's email does not follow the pattern '@example.com$'\n"],
  ['GitLab, a secondary', HOOK, "GitLab: You can't push code to a read-only GitLab instance.\n"],
  ['Gitea', HOOK, 'Gitea: Not allowed to push to protected branch\n'],
  [
    'Azure DevOps, a policy',
    'TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.',
  ],
  ['Gerrit', 'prohibited by Gerrit: not permitted: create'],
];

/** Nobody knows what they mean: they are told, and tried again at the usual pace. */
const UNKNOWN: readonly Row[] = [
  ['words that nobody knows', 'internal server error'],
  ['silence', ''],
  ['a hook that failed in its own way', FAILED, 'error: the moon is full\n'],
  ['a remark that only mentions a race', 'failed', 'hint: did you mean fetch first?\n'],
];

const TABLE: readonly (readonly [GitErrorCode, readonly Row[], RegExp])[] = [
  ['GIT_PUSH_RACE', RACES, /another writer/],
  ['GIT_FORBIDDEN', FORBIDDEN, /To fix this, give it the right to write/],
  ['GIT_PUSH_NO_ROOM', NO_ROOM, /To fix this, raise the quota/],
  ['GIT_PUSH_REFUSED', REFUSED, /To fix this, (?:allow pushes to refs\/notes|unarchive)/],
  ['GIT_REMOTE_ERROR', UNKNOWN, /^the git server says: ./],
];

describe('the refusal of a push of notes', () => {
  for (const [code, rows, remedy] of TABLE) {
    for (const [from, reason, remarks = ''] of rows) {
      it(`is ${code} where it comes from ${from}`, () => {
        const error = pushError({ ref: REF, reason, remarks });
        assert.equal(error.code, code, error.message);
        assert.match(error.message, remedy);
        assert.ok(error.message.length < 600);
      });
    }
  }
});
