import assert from 'node:assert/strict';
import { it } from 'node:test';
import { untrusted } from '#reconciler/policy/commit-snapshot.ts';
import { judgeSigner } from '#reconciler/policy/commit-admission/refuse-commit.ts';

it('a signature that is not trusted keeps a commit out of force, and says why', () => {
  const verdict = judgeSigner(untrusted('is by nobody we know'));
  assert.ok(!verdict.accepted);
  assert.equal(verdict.reason, 'commit-untrusted');
  assert.match(verdict.message, /^its signature is by nobody we know\./);
});
