import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  explainRefusal,
  readRefusalCause,
  type RefusedCommit,
} from '#reconciler/policy/commit-admission/refusal-cause.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';

const oid = (digit: string): string => digit.repeat(40);
const tip = (digit: string, parents: readonly string[], name = 'Ada', subject = `Commit ${digit}`): Commit => ({
  oid: oid(digit),
  parents: parents.map(oid),
  author: { name, email: '', at: '' },
  subject,
  raw: new Uint8Array(),
});
const refusal = { reason: 'unassigns-too-many', message: 'too many', pools: ['general'] } as const;

/** The refusals of tips that follow each other, on a commit `0` that is in force. */
const refused = (tips: readonly (readonly [Commit, pools?: readonly string[]])[]): readonly RefusedCommit[] =>
  tips.reduce<readonly RefusedCommit[]>(
    (before, [each, pools = refusal.pools]) => [
      ...before,
      explainRefusal(each, { ...refusal, pools }, before.at(-1) ?? null, oid('0')),
    ],
    [],
  );

describe('a refusal', () => {
  it('is due to the commit that brought it, and later ones wait behind that', () => {
    const [first, second, third] = refused([
      [tip('1', ['0'], 'Ada', 'Typo')],
      [tip('2', ['1'], 'Bob')],
      [tip('3', ['2'], 'Cy')],
    ]);
    assert.equal(first?.message, 'too many');
    const contains = (later: string): string =>
      `it contains 111111111111 "Typo" (Ada), which is the cause; ${later} behind that. too many`;
    assert.equal(second?.message, contains('1 later commit waits'));
    assert.equal(third?.message, contains('2 later commits wait'));
    assert.doesNotMatch(`${second?.message} ${third?.message}`, /Bob|Cy/);
  });

  it('counts only what was seen', () => {
    const [, merge] = refused([[tip('1', ['0'])], [tip('3', ['1', '2'])]]);
    const [, skipped, next] = refused([[tip('1', ['0'])], [tip('5', ['4'])], [tip('6', ['5'])]]);
    for (const each of [merge, skipped, next]) {
      assert.match(each?.message ?? '', /^it contains 1{12} .*; later commits wait behind that/);
    }
  });

  it('blames none of several commits that came at once', () => {
    const [first, second] = refused([[tip('3', ['2'])], [tip('4', ['3'])]]);
    for (const each of [first, second]) {
      assert.equal(each?.cause, undefined);
      assert.match(each?.message ?? '', /^too many\. The cause is it or a commit before it .*: git log 0{12}\.\./);
    }
  });

  it('of another pool, or for another reason, is due to the commit that brought that', () => {
    const [, other] = refused([[tip('1', ['0'])], [tip('2', ['0']), ['gpu']]]);
    assert.equal(other?.cause?.commit, oid('2'));
    const before = refused([[tip('1', ['0'])]])[0] ?? null;
    const mass = explainRefusal(tip('2', ['0']), { reason: 'changes-too-many', message: 'm' }, before, oid('0'));
    assert.deepEqual([mass.cause?.commit, mass.message], [oid('2'), 'm']);
  });

  it('of the tip itself, or of a rewritten branch, is nobody else’s', () => {
    for (const reason of [
      'commit-unsigned',
      'commit-untrusted',
      'history-rewritten',
      'ended-the-reconciler',
    ] as const) {
      const before = { commit: oid('1'), reason, message: 'm' };
      assert.deepEqual(explainRefusal(tip('2', ['1']), { reason, message: 'm' }, before, oid('0')), {
        ...before,
        commit: oid('2'),
      });
    }
  });

  it('says the same of the same tip when it is judged again', () => {
    const [, second] = refused([[tip('1', ['0'])], [tip('2', ['1'])]]);
    assert.deepEqual(explainRefusal(tip('2', ['1']), refusal, second ?? null, oid('0')), second);
  });

  it('is read back from the record; what was damaged says nothing', () => {
    const [first] = refused([[tip('1', ['0'])]]);
    assert.deepEqual(readRefusalCause(JSON.stringify(first?.cause)), first?.cause);
    for (const text of ['', '{', 'null', '{}', '{"commit":"x","pools":[]}'])
      assert.equal(readRefusalCause(text), undefined);
  });
});
