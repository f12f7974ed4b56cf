import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWriteOverlay, type WriteOverlayRules } from '#reconciler/cluster/write-cache/write-overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from '#reconciler/cluster/write-cache/write-overlay-rules.ts';
import { CORDONED_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { formatMark } from '#reconciler/policy/disruption/drain-mark.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** What is shown of the object `a` after these writes, by what the watch shows. */
function after<T>(rules: WriteOverlayRules<T>, ...writes: readonly KubeObject[]): (seen: KubeObject) => T | undefined {
  const overlay = createWriteOverlay(createManualClock(), rules);
  for (const written of writes) overlay.wrote(written);
  return (seen) => overlay.merge(new Map([['a', rules.view(seen)]]), 0).get('a');
}

describe('a KubeletNode that was written', () => {
  const node = (generation: number, pool: string): KubeletNode => ({
    metadata: { name: 'a', uid: 'u', generation },
    spec: { pool },
  });

  it('gives way to what came after it', () => {
    const shown = after(WRITTEN_NODES, node(2, 'new'));
    assert.equal(shown(node(3, 'newer'))?.spec?.pool, 'newer');
    assert.equal(shown(node(1, 'older again'))?.spec?.pool, 'older again');
  });
});

describe('a KubeletPool that was written', () => {
  const pool = (resourceVersion: string, phase: PoolPhase, more: object = {}): KubeletPool => ({
    metadata: { name: 'a', uid: 'u', generation: 1, resourceVersion, ...more },
    status: { phase },
  });

  it('shows as it was written last, also while the watch shows a write before it', () => {
    const shown = after(WRITTEN_POOLS, pool('8', 'Progressing'), pool('9', 'Settled'));
    for (const seen of [pool('7', 'Waiting'), pool('8', 'Progressing')]) {
      assert.equal(shown(seen)?.status?.phase, 'Settled');
    }
  });

  it('gives way to what somebody else wrote onto it, which has the status that was written', () => {
    const shown = after(WRITTEN_POOLS, pool('9', 'Settled'));
    const annotated = pool('10', 'Settled', { annotations: { 'kubelet-gitops.dev/suspend': 'a look at it' } });
    assert.deepEqual(shown(annotated)?.metadata.annotations, annotated.metadata.annotations);
    assert.equal(shown(pool('11', 'Halted'))?.status?.phase, 'Halted');
  });

  it('shows until the watch has the spec that was written, though the status is the same', () => {
    const shown = after(WRITTEN_POOLS, pool('9', 'Settled', { generation: 2 }));
    assert.equal(shown(pool('8', 'Settled'))?.metadata.generation, 2);
  });
});

describe('a mark that was written onto a Node', () => {
  const mark = { config: 'general-7k2mh5gf8d', at: Date.parse('2026-11-21T12:00:00Z') };
  const node = (metadata: object, more: object = {}): KubeObject => ({
    metadata: { name: 'a', uid: 'u', ...metadata },
    ...more,
  });

  it('shows with everything else as the watch has it', () => {
    const annotations = { [CORDONED_ANNOTATION]: formatMark(mark) };
    const written = node({ annotations, labels: { old: 'yes' } }, { spec: { unschedulable: true } });
    const { drain, cordoned, labels } = after(WRITTEN_MARKS, written)(node({ labels: { new: 'yes' } })) ?? {};
    assert.deepEqual([drain, cordoned, labels], [mark, true, { new: 'yes' }]);
  });

  it('shows whichever it is: a drain that failed, or the taint of a node that has yet to run its config', () => {
    const taints = [{ key: 'kubelet-gitops.dev/not-configured', effect: 'NoSchedule' }];
    const gated = after(WRITTEN_MARKS, node({}, { spec: { taints } }))(node({}));
    assert.equal(gated?.gated, true);
    const annotations = { [DRAIN_FAILED_ANNOTATION]: formatMark(mark) };
    assert.deepEqual(after(WRITTEN_MARKS, node({ annotations }))(node({}))?.drainFailed, { ...mark, times: 1 });
  });

  it('does not show after it was taken away', () => {
    const gated = { taints: [{ key: 'kubelet-gitops.dev/not-configured' }], unschedulable: true };
    const annotations = { [CORDONED_ANNOTATION]: formatMark(mark) };
    const shown = after(WRITTEN_MARKS, node({}))(node({ annotations }, { spec: gated }));
    assert.deepEqual([shown?.cordoned, shown?.drain, shown?.gated], [false, undefined, undefined]);
  });
});
