import { toTimestamp } from '#shared/runtime/clock.ts';
import { GitError } from '../errors.ts';
import { plainLine } from '../plain-text.ts';
import type { Commit } from '../../policy/commit-snapshot.ts';
import { parsePerson } from './person.ts';

export interface ParsedCommit extends Commit {
  readonly tree: string;
}

const LONGEST_SUBJECT = 200;
const LONGEST_NAME = 100;

/**
 * Reads a commit object from its own bytes. These are kept as they are, because a signature is over them and not over
 * what any parser makes of them.
 *
 * @throws GitError `GIT_DAMAGED` for a commit without a tree
 */
export function parseCommit(oid: string, raw: Buffer): ParsedCommit {
  const blank = raw.indexOf('\n\n');
  const head = blank < 0 ? raw : raw.subarray(0, blank);
  const message = blank < 0 ? Buffer.alloc(0) : raw.subarray(blank + 2);
  // Latin-1 keeps every byte apart; the texts are decoded once it is known how.
  const headers = head.toString('latin1').split('\n');
  const all = (name: string): readonly string[] =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const tree = all('tree')[0] ?? '';
  if (!/^[0-9a-f]{40}$/.test(tree)) throw new GitError('GIT_DAMAGED', `the commit ${oid} names no tree`);
  const decode = decoder(all('encoding')[0]);
  const [subject = ''] = decode(message).trimStart().split('\n', 1);
  return {
    oid,
    tree,
    parents: all('parent').filter((parent) => /^[0-9a-f]{40}$/.test(parent)),
    author: parseAuthor(decode(Buffer.from(all('author')[0] ?? '', 'latin1'))),
    subject: plainLine(subject, LONGEST_SUBJECT),
    raw,
  };
}

function parseAuthor(line: string): Commit['author'] {
  const { name, email, seconds } = parsePerson(line);
  const at = seconds === null ? NaN : seconds * 1000;
  return {
    name: plainLine(name, LONGEST_NAME),
    email: plainLine(email, LONGEST_NAME),
    // JavaScript's dates end at 8.64e15 milliseconds.
    at: at <= 8.64e15 ? toTimestamp(at) : '',
  };
}

/** UTF-8 unless the commit says otherwise; what cannot be decoded is shown as such, never an error. */
function decoder(encoding: string | undefined): (bytes: Buffer) => string {
  try {
    const known = new TextDecoder(encoding ?? 'utf-8');
    return (bytes) => known.decode(bytes);
  } catch {
    return (bytes) => bytes.toString('latin1');
  }
}
