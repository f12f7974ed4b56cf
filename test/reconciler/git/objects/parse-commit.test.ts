import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { failsWith } from '../support/start.ts';

const OID = 'c'.repeat(40);
const TREE = 'a'.repeat(40);
const PARENT = 'b'.repeat(40);
const BY = 'Ada <ada@example.com> 1767225600 +0100';

const parse = (text: string | Buffer) => parseCommit(OID, Buffer.from(text as string));
const commit = (author: string, message = 'x\n', extra = ''): string =>
  `tree ${TREE}\nauthor ${author}\ncommitter ${BY}\n${extra}\n${message}`;

describe('a commit object', () => {
  it('gives tree, parents, author and subject', () => {
    const { raw, ...rest } = parse(`tree ${TREE}\nparent ${PARENT}\nparent ${TREE}\nauthor ${BY}\n\nSubject\n\nBody\n`);
    assert.deepEqual(rest, {
      oid: OID,
      tree: TREE,
      parents: [PARENT, TREE],
      author: { name: 'Ada', email: 'ada@example.com', at: '2026-01-01T00:00:00Z' },
      subject: 'Subject',
    });
    assert.ok(raw.length > 0);
  });

  const subjects = [
    ['of a message of one line without end', 'Subject', 'Subject'],
    ['after empty lines', '\n\nSubject\nmore', 'Subject'],
    ['of no message', '', ''],
    ['with tabs and controls', 'a\tb\u001b[31mc\u0000d', 'a b[31mcd'],
    ['with marks that turn the direction', 'a\u202eb\u2066c', 'abc'],
    ['longer than anyone reads', 'x'.repeat(300), `${'x'.repeat(199)}…`],
    ['that looks like headers', `tree ${PARENT}\nparent ${PARENT}`, `tree ${PARENT}`],
  ] as const;
  for (const [what, message, subject] of subjects) {
    it(`gives the subject ${what}`, () => {
      const parsed = parse(commit(BY, message));
      assert.equal(parsed.subject, subject);
      assert.deepEqual(parsed.parents, []);
      assert.equal(parsed.tree, TREE);
    });
  }

  const authors = [
    ['without a name', '<a@b> 0 +0000', { name: '', email: 'a@b', at: '1970-01-01T00:00:00Z' }],
    ['without a date', 'Ada <a@b>', { name: 'Ada <a@b>', email: '', at: '' }],
    ['of no sense', '\u202e', { name: '', email: '', at: '' }],
    ['of the year 30000', 'A <a@b> 884541340800 +0000', { name: 'A', email: 'a@b', at: '+030000-01-01T00:00:00Z' }],
    ['after the end of time', 'A <a@b> 999999999999 +0000', { name: 'A', email: 'a@b', at: '+033658-09-27T01:46:39Z' }],
  ] as const;
  for (const [what, line, author] of authors) {
    it(`bears with an author ${what}`, () => assert.deepEqual(parse(commit(line)).author, author));
  }

  it('is decoded as it says', () => {
    const latin1 = Buffer.from(
      commit('J\u00fcrgen <j@b> 0 +0000', 'Gr\u00fc\u00dfe\n', 'encoding ISO-8859-1\n'),
      'latin1',
    );
    assert.equal(parse(latin1).author.name, 'Jürgen');
    assert.equal(parse(latin1).subject, 'Grüße');
    assert.deepEqual(parse(latin1).raw, latin1);
    assert.equal(parse(commit(BY, 'Grün\n', 'encoding no-such-thing\n')).subject, 'GrÃ¼n');
  });

  it('does not take the lines of a signature for headers', () => {
    const signed = commit(BY, 'x\n', `gpgsig -----BEGIN\n parent ${PARENT}\n\n`);
    assert.deepEqual(parse(signed).parents, []);
  });

  it('without a tree is damaged', () => {
    for (const text of ['', 'author x\n\ntree y', `tree ${TREE.slice(1)}\n\nx`]) {
      assert.throws(() => parse(text), failsWith('GIT_DAMAGED'));
    }
  });
});
