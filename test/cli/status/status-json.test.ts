import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statusAsJson } from '#cli/status/status-json.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';

const of = (source: Partial<typeof NO_STATE>) =>
  statusAsJson({ source: { ...NO_STATE, ...source }, pools: [], nodes: [] }, true, undefined, 0) as Record<
    string,
    unknown
  >;

describe('the status for programs', () => {
  it('says of the commit, of git and of a refusal only what there is', () => {
    const { commit, git, refused } = of({});
    assert.deepEqual([commit, git, refused], [null, null, null]);
  });

  it('says since when git fails, and which commit is refused, why', () => {
    const failingSince = '2026-11-21T11:00:00Z';
    assert.deepEqual(of({ failure: 'no answer', failingSince })['git'], { failingSince, failure: 'no answer' });
    const refused = of({ refusedCommit: 'b'.repeat(40), refusedBecause: 'the branch was rewritten' })['refused'];
    assert.deepEqual(refused, { commit: 'b'.repeat(40), because: 'the branch was rewritten' });
  });
});
