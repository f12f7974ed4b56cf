import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from '#shared/contract/api/object.ts';
import { isOwnedBy } from '#reconciler/policy/kubelet-node-of.ts';

describe('a Node', () => {
  it('owns the KubeletNode that names it among its owners', () => {
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'Node', name: 'a', uid });
    const owned = (ownerReferences?: ObjectMeta['ownerReferences']): boolean =>
      isOwnedBy({ metadata: { name: 'a', ...(ownerReferences && { ownerReferences }) } }, 'u1');
    assert.deepEqual(
      [owned([owner('u1')]), owned([owner('u0'), owner('u1')]), owned([owner('u0')]), owned([]), owned()],
      [true, true, false, false, false],
    );
  });
});
