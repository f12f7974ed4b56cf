import type { Millis } from '#shared/runtime/clock.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { Oid } from './oid.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
}

export interface CommitContent {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Author;
  /** When it was written; git keeps whole seconds. */
  readonly at: Millis;
  readonly message: string;
}

/** @throws GitServerError `GIT_PACK_INVALID` where the bytes are no commit */
export function readCommit(body: Buffer): CommitContent {
  const text = body.toString('utf8');
  const end = text.indexOf('\n\n');
  const header = (end === -1 ? text : text.slice(0, end)).split('\n');
  const tree = valuesOf(header, 'tree')[0];
  const author = /^(.*?) ?<([^>]*)> (\d+)/.exec(valuesOf(header, 'author')[0] ?? '');
  if (tree === undefined || author === null) {
    throw new GitServerError('GIT_PACK_INVALID', 'a commit object lacks its tree or its author');
  }
  return {
    tree,
    parents: valuesOf(header, 'parent'),
    author: { name: author[1] ?? '', email: author[2] ?? '' },
    at: Number(author[3]) * 1000,
    message: end === -1 ? '' : text.slice(end + 2),
  };
}

/** @throws GitServerError `GIT_CHANGE_INVALID` for an author that git could not read back */
export function writeCommit(commit: CommitContent): Buffer {
  const { name, email } = commit.author;
  if (/[<>\n\0]/.test(name + email)) {
    throw new GitServerError('GIT_CHANGE_INVALID', `an author's name and address cannot hold <, > or a line break`);
  }
  const signature = `${name} <${email}> ${Math.floor(commit.at / 1000)} +0000`;
  return Buffer.from(
    [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${signature}`,
      `committer ${signature}`,
      '',
      commit.message.endsWith('\n') ? commit.message : `${commit.message}\n`,
    ].join('\n'),
  );
}

function valuesOf(header: readonly string[], key: string): readonly string[] {
  return header.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
}
