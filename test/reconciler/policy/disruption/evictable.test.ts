import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mustBeEvicted, isFinished, isTerminating, type Pod } from '#reconciler/policy/disruption/evictable.ts';

const pod = (metadata: object = {}, phase?: string): Pod => ({
  metadata: { name: 'p', ...metadata },
  ...(phase === undefined ? {} : { status: { phase } }),
});
const owner = (kind: string, controller?: boolean) => ({
  ownerReferences: [{ kind: 'Node' }, { kind, ...(controller === undefined ? {} : { controller }) }],
});

describe('a pod on a node that is drained', () => {
  const rows: readonly (readonly [string, Pod, boolean])[] = [
    ['has to leave where nobody owns it', pod(), true],
    ['has to leave while it runs', pod({}, 'Running'), true],
    ['has to leave where a ReplicaSet owns it', pod(owner('ReplicaSet', true)), true],
    ['has to leave where a DaemonSet only speaks of it', pod(owner('DaemonSet')), true],
    ['stays where a DaemonSet owns it', pod(owner('DaemonSet', true)), false],
    ['stays where the node itself made it', pod({ annotations: { 'kubernetes.io/config.mirror': '' } }), false],
    ['has to leave with other annotations', pod({ annotations: { a: 'b' } }), true],
    ['stays where it has succeeded', pod({}, 'Succeeded'), false],
    ['stays where it has failed', pod({}, 'Failed'), false],
  ];
  for (const [name, each, expected] of rows) it(name, () => assert.equal(mustBeEvicted(each), expected));

  it('takes no room where it is finished', () => {
    assert.deepEqual(
      ['Succeeded', 'Failed', 'Running', undefined].map((phase) => isFinished(pod({}, phase))),
      [true, true, false, false],
    );
  });

  it('is leaving when it was told to', () => {
    assert.equal(isTerminating(pod({ deletionTimestamp: '2026-01-01T00:00:00Z' })), true);
    assert.equal(isTerminating(pod()), false);
  });
});
