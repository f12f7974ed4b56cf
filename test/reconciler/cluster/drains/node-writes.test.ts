import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodePatch, type NodeObject, type NodeStep } from '#reconciler/cluster/drains/node-writes.ts';
import { formatMark } from '#reconciler/policy/disruption/drain-mark.ts';
import { CORDONED_ANNOTATION, NOT_CONFIGURED_TAINT } from '#shared/contract/api/group.ts';

const MARK = { config: 'web-1', at: Date.parse('2026-11-21T12:00:00Z') };
const OTHER = { ...MARK, config: 'web-2' };
const OURS = { key: NOT_CONFIGURED_TAINT };
const THEIRS = { key: 'example.test/dedicated' };

const cordon: NodeStep = { step: 'cordon', node: 'n1', uid: 'u', mark: MARK };
const uncordon: NodeStep = { step: 'uncordon', node: 'n1', uid: 'u', failed: null };
const untaint: NodeStep = { step: 'untaint', node: 'n1', uid: 'u', because: 'it runs its config' };

function node(spec: NodeObject['spec'] = {}, mark?: string): NodeObject {
  const annotations = mark === undefined ? {} : { [CORDONED_ANNOTATION]: mark };
  return { metadata: { name: 'n1', uid: 'u', resourceVersion: '7', annotations }, spec };
}
const CORDONED = { unschedulable: true };

describe('a write to a Node', () => {
  for (const [what, step, present] of [
    ['a cordon that is there', cordon, node(CORDONED, formatMark(MARK))],
    ['a cordon of somebody else', cordon, node(CORDONED)],
    ['a cordon of somebody else, with a mark that nobody can read', cordon, node(CORDONED, '?')],
    ['an end of a cordon that is not ours', uncordon, node(CORDONED)],
    ['an end of a taint that is gone', untaint, node({ taints: [THEIRS] })],
    ['anything on a Node of another uid', cordon, { ...node(), metadata: { name: 'n1', uid: 'v' } }],
    ['anything on a Node that is gone', cordon, undefined],
  ] as const) {
    it(`is not made for ${what}`, () => assert.equal(nodePatch(step, present), null));
  }

  for (const [what, step, present, spec] of [
    ['a cordon', cordon, node(), CORDONED],
    ['a cordon for another config', cordon, node(CORDONED, formatMark(OTHER)), CORDONED],
    ['a cordon that somebody opened', cordon, node({}, formatMark(MARK)), CORDONED],
    ['an end of our cordon', uncordon, node(CORDONED, formatMark(MARK)), { unschedulable: null }],
    ['an end of our taint', untaint, node({ taints: [OURS] }), { taints: null }],
    ['an end of our taint beside others', untaint, node({ taints: [THEIRS, OURS] }), { taints: [THEIRS] }],
  ] as const) {
    it(`is made of the Node as it was read for ${what}`, () => {
      const patch = nodePatch(step, present) as { readonly metadata: object; readonly spec: object } | null;
      assert.deepEqual(patch?.spec, spec);
      const { uid, resourceVersion } = patch.metadata as NodeObject['metadata'];
      assert.deepEqual([uid, resourceVersion], ['u', '7']);
    });
  }
});
