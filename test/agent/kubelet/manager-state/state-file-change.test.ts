import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changeFor, type StateFile } from '#agent/kubelet/manager-state/state-file-change.ts';

it('a state file that the kubelet does not read stays, whatever is in it', () => {
  const owner = { mode: 0o600, uid: 0, gid: 0 };
  const wanted = { isRead: false, basis: 'none', accepts: () => false };
  const files: readonly (StateFile | null)[] = [
    null,
    { bytes: Buffer.from('{'), owner },
    { bytes: Buffer.from('{"policyName":"static"}'), owner },
  ];
  for (const found of files) {
    const move = { found, known: null, presentBasis: 'static; 2 CPUs' };
    assert.deepEqual(changeFor({ ...move, wanted }), { isRemoved: false });
    if (found !== null) assert.equal(changeFor({ ...move, wanted: { ...wanted, isRead: true } }).isRemoved, true);
  }
});
