import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORDONED_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { formatMark } from '#reconciler/policy/disruption/drain-mark.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { viewNode } from '#reconciler/cluster/views.ts';
import { createWrittenMarks, type WrittenMarks } from '#reconciler/cluster/written/marks.ts';

const mark = { config: 'general-7k2mh5gf8d', at: Date.parse('2026-11-21T12:00:00Z') };
const node = (uid: string, more: object = {}): KubeObject => ({ metadata: { name: 'a', uid, ...more } });
const cordoned = {
  ...node('u', { annotations: { [CORDONED_ANNOTATION]: formatMark(mark) }, labels: { old: 'yes' } }),
  spec: { unschedulable: true },
};

function setUp(): {
  readonly marks: WrittenMarks;
  pass(ms: number): void;
  see(object: KubeObject): NodeView | undefined;
} {
  let now = 1_000;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  const marks = createWrittenMarks(clock);
  marks.wrote(cordoned);
  return {
    marks,
    pass: (ms) => (now += ms),
    see: (object) => marks.over(new Map([['a', viewNode(object)]]), 0).get('a'),
  };
}

describe('what the reconciler wrote onto a Node', () => {
  it('is seen before the watch shows it, with everything else as the watch has it', () => {
    const { see } = setUp();
    const { drain, cordoned: is, labels } = see(node('u', { labels: { new: 'yes' } })) ?? {};
    assert.deepEqual([drain, is, labels], [mark, true, { new: 'yes' }]);
  });

  it('gives way once the watch has shown it: what comes after is somebody else’s', () => {
    const { see } = setUp();
    assert.equal(see(cordoned)?.cordoned, true);
    assert.equal(see(node('u'))?.cordoned, false);
  });

  it('gives way to another Node of the same name', () => assert.equal(setUp().see(node('v'))?.cordoned, false));

  it('is not believed for ever, because somebody may have taken it back unseen', () => {
    const { see, pass } = setUp();
    pass(10_000);
    assert.equal(see(node('u'))?.cordoned, true);
    pass(1);
    assert.equal(see(node('u'))?.cordoned, false);
  });

  it('gives way to a list that was asked for later', () => {
    const { marks } = setUp();
    assert.equal(marks.over(new Map([['a', viewNode(node('u'))]]), 1_001).get('a')?.cordoned, false);
  });
});
