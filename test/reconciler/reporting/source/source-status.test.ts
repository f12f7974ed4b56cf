import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { COMMIT_A, COMMIT_B } from '../../../support/fleet.ts';
import { afterPass, AT, factsOf, faulty, LATER, REFUSAL, SETTLED, SOURCE_STATES } from './support/states.ts';

const TIP = 'c'.repeat(40);

const conditionsOf = ({ status }: KubeletSource): Readonly<Record<string, string>> =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: is }) => [type, is]));
const reasonOf = ({ status }: KubeletSource): string | undefined => status?.conditions?.[0]?.reason;
const messageOf = ({ status }: KubeletSource): string => status?.conditions?.[0]?.message ?? '';

describe('the status of the KubeletSource', () => {
  for (const [state, kstatus, source] of SOURCE_STATES) {
    it(`is ${kstatus} where ${state}`, () => {
      assert.deepEqual(conditionsOf(source()), {
        Ready: kstatus === 'Current' ? 'True' : 'False',
        Reconciling: kstatus === 'InProgress' ? 'True' : 'False',
        Stalled: kstatus === 'Failed' ? 'True' : 'False',
      });
      assert.equal(source().status?.observedGeneration, 1);
    });
  }

  it('names the commit in force, and the newest one that was judged', () => {
    const { status } = SETTLED;
    assert.deepEqual(
      [status?.commit, status?.subject, status?.author, status?.takenUpAt, status?.branch, status?.cluster],
      [COMMIT_A, 'Raise maxPods', 'Ada', AT, 'main', 'demo'],
    );
    assert.deepEqual([status?.lastAttemptedCommit, status?.lastAttemptedTip], [COMMIT_A, COMMIT_A]);
    assert.equal(messageOf(SETTLED), `commit ${COMMIT_A.slice(0, 12)} is in force: Raise maxPods`);
  });

  it('says of a refused commit who wrote it, why, and what stays in force', () => {
    const refused = afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED, LATER);
    assert.equal(refused.status?.commit, COMMIT_A);
    assert.equal(refused.status.lastAttemptedCommit, COMMIT_B);
    assert.equal(refused.status.lastAttemptedAt, LATER);
    assert.deepEqual(refused.status.refused, {
      commit: COMMIT_B,
      subject: 'Change all',
      author: 'Mallory',
      reason: 'changes-too-many',
      message: REFUSAL.refusedBecause,
    });
    assert.equal(reasonOf(refused), 'CommitRefused');
    assert.match(messageOf(refused), new RegExp(`${COMMIT_B.slice(0, 12)} is refused: .* stays in force$`));
    const restarted = afterPass(factsOf(null, { ...REFUSAL, failure: 'GIT: away' }), refused, LATER);
    assert.deepEqual(restarted.status?.refused, refused.status.refused);
    assert.equal(afterPass(factsOf(COMMIT_A), refused, LATER).status?.refused, undefined);
  });

  it('does not call a commit attempted before it was judged', () => {
    const unread = afterPass(factsOf(COMMIT_B), SETTLED, LATER);
    assert.equal(unread.status?.lastAttemptedCommit, COMMIT_A);
    assert.equal(unread.status.lastAttemptedTip, COMMIT_A);
    assert.equal(unread.status.lastAttemptedAt, AT);
    assert.equal(afterPass(factsOf(COMMIT_A), SETTLED, LATER).status?.lastAttemptedAt, AT);
  });

  it('names the tip where a folder is followed that it left as it was', () => {
    const facts = { ...factsOf(COMMIT_A, {}, { path: 'kubelets' }), readAt: TIP };
    const { status } = afterPass(facts, SETTLED, LATER);
    assert.deepEqual(
      [status?.path, status?.lastAttemptedCommit, status?.lastAttemptedTip],
      ['kubelets', COMMIT_A, TIP],
    );
    assert.equal(conditionsOf(afterPass(facts, SETTLED))['Ready'], 'True');
  });

  it('says where the errors of a commit in force are', () => {
    const wrong = afterPass(factsOf(COMMIT_A, {}, { desired: faulty }), SETTLED, LATER);
    assert.equal(reasonOf(wrong), 'ConfigRefused');
    assert.match(messageOf(wrong), /^pools\/workers\/[a-z.]+:\d+/);
    assert.equal(reasonOf(afterPass(factsOf(COMMIT_A, { findings: 'nodes are left alone' }))), 'NodesLeftAlone');
  });

  it('names the first five errors, and how many more there are', () => {
    const lines = (count: number): readonly string[] => {
      const findings = Array.from({ length: count }, (_, n) => `node n${n} is left alone`).join('\n');
      return messageOf(afterPass(factsOf(COMMIT_A, { findings }))).split('\n');
    };
    assert.equal(lines(5).length, 5);
    assert.deepEqual(lines(7).slice(4), ['node n4 is left alone', 'and 2 more']);
  });

  it('keeps after a restart what was wrong with the same commit, and nothing of one that was refused or is another', () => {
    const wrong = afterPass(factsOf(COMMIT_A, {}, { desired: faulty }), SETTLED, LATER);
    const refused = afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED, LATER);
    const restarted = (before: KubeletSource, commit = COMMIT_A) =>
      reasonOf(afterPass(factsOf(null, { commit }), before, LATER));
    assert.deepEqual([restarted(wrong), restarted(wrong, COMMIT_B)], ['ConfigRefused', 'NotRead']);
    assert.deepEqual([restarted(refused), restarted(SETTLED)], ['NotRead', 'NotRead']);
  });

  it('is Ready with warnings', () => {
    const findings = 'pools/workers/kubelet.yaml:3:1: warning risky-value: it is bold';
    assert.equal(conditionsOf(afterPass(factsOf(COMMIT_A, { findings })))['Ready'], 'True');
  });

  it('keeps the time of a condition that says the same', () => {
    const refused = afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED, LATER);
    const times = refused.status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime);
    assert.deepEqual(times, [LATER, AT, LATER]);
  });
});
