import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOnlyHeartbeat, trimNode, viewKubeletNode, viewNode } from '#reconciler/cluster/object-views.ts';
import {
  CLASS_LABELS_ANNOTATION,
  FIRST_SEEN_ANNOTATION,
  MACHINE_ANNOTATION,
  MOVED_SINCE_ANNOTATION,
  NOT_CONFIGURED_TAINT,
  UNSELECTED_SINCE_ANNOTATION,
} from '#shared/contract/api/group.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { nodeObject } from '../../support/fleet-process/node-object.ts';
import { idleNode, nodeView, NOW } from '../../support/fleet.ts';

const ours = { type: CONFIG_HEALTH, status: 'True', reason: 'Settled', message: 'm', lastTransitionTime: 't' };

describe('a Node without what nobody looks at', () => {
  it('is seen as the whole one is', () => {
    const whole = nodeObject(7, 3);
    const status = whole.status as { readonly conditions: readonly object[] };
    const cordoned: KubeObject = {
      ...whole,
      spec: { ...whole.spec, unschedulable: true },
      status: { ...whole.status, conditions: [...status.conditions, ours] },
    } as KubeObject;
    const taints = [{ key: 'example.com/gpu' }, { key: NOT_CONFIGURED_TAINT }];
    const gated = { ...whole, spec: { ...whole.spec, taints } } as KubeObject;
    assert.equal(viewNode(gated).gated, true);
    const marks = ['karpenter.sh/disrupted', 'virtual-kubelet.io/provider', 'DeletionCandidateOfClusterAutoscaler'];
    const marked = { ...whole, spec: { taints: [...taints, ...marks.map((key) => ({ key }))] } } as KubeObject;
    const { virtual, leaving, deletionCandidate } = viewNode(marked);
    assert.deepEqual([virtual, leaving, deletionCandidate], [true, 'Karpenter replaces it', true]);
    const deleted = { ...whole, metadata: { ...whole.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } };
    assert.ok(viewNode(deleted).leaving !== undefined);
    for (const node of [whole, cordoned, gated, marked, deleted, { metadata: { name: 'bare' } }]) {
      assert.deepEqual(viewNode(trimNode(node)), viewNode(node));
    }
    assert.equal(viewNode(trimNode(cordoned)).configHealth?.message, 'm');
  });

  it('says its size, as far as a config keeps anything of it back', () => {
    const capacity = { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Gi' };
    const others = { 'hugepages-1Gi': '0', 'example.com/gpu': '8', 'attachable-volumes-x': '39' };
    const allocatable = { cpu: '3', memory: '15Gi' };
    const nodeInfo = { kubeletVersion: 'v1.36.2' };
    const status = { nodeInfo, capacity: { ...capacity, ...others }, allocatable: { ...allocatable, ...others } };
    const whole = { metadata: { name: 'a' }, status } as KubeObject;
    assert.deepEqual(viewNode(whole).size, { kubeletVersion: 'v1.36.2', capacity, allocatable });
    assert.deepEqual(viewNode(trimNode(whole)).size, viewNode(whole).size);
    for (const left of ['capacity', 'allocatable']) {
      const half = { metadata: { name: 'a' }, status: { ...status, [left]: undefined } } as KubeObject;
      assert.equal(viewNode(trimNode(half)).size, undefined);
    }
  });

  it('says which features it declares, of those that pods can need', () => {
    const declaring = (declaredFeatures: unknown): KubeObject =>
      ({ metadata: { name: 'a' }, status: { declaredFeatures } }) as unknown as KubeObject;
    const needed = 'UserNamespacesHostNetworkSupport';
    for (const [said, kept] of [
      [['ExtendWebSocketsToKubelet', needed], [needed]],
      [['ExtendWebSocketsToKubelet'], []],
      [undefined, undefined],
      ['x', undefined],
    ] as const) {
      assert.deepEqual(viewNode(declaring(said)).declares, kept);
      assert.deepEqual(viewNode(trimNode(declaring(said))), viewNode(declaring(said)));
    }
  });

  it('is a tenth of it, and keeps the version that a watch goes on from', () => {
    const whole = { ...nodeObject(7, 3), metadata: { ...nodeObject(7, 3).metadata, resourceVersion: '12' } };
    assert.ok(JSON.stringify(trimNode(whole)).length < JSON.stringify(whole).length / 8);
    assert.equal(trimNode(whole).metadata.resourceVersion, '12');
  });
});

describe('a KubeletNode without what nobody looks at', () => {
  it('keeps everything that a reconciler remembers in its annotations, and nothing of others', () => {
    const remembered = {
      [FIRST_SEEN_ANNOTATION]: '1',
      [UNSELECTED_SINCE_ANNOTATION]: '2',
      [MOVED_SINCE_ANNOTATION]: '3',
      [MACHINE_ANNOTATION]: '4',
      [CLASS_LABELS_ANNOTATION]: '6',
    };
    const annotations = { ...remembered, 'example.com/theirs': '5' };
    assert.deepEqual(viewKubeletNode({ metadata: { name: 'a', annotations } }).metadata.annotations, remembered);
  });
});

describe('a Node that is Ready', () => {
  const node = (status: string, lastTransitionTime: string, lastHeartbeatTime?: string): KubeObject =>
    ({
      metadata: { name: 'a' },
      status: { conditions: [{ type: 'Ready', status, lastTransitionTime, lastHeartbeatTime }] },
    }) as KubeObject;
  const [from, to] = ['2001-01-01T00:00:00Z', '2001-01-01T01:00:00Z'];

  it('has been so for as long as its kubelet says, less what whole seconds hide, whatever year it thinks it is', () => {
    assert.equal(viewNode(node('True', from, to)).readyForMs, 3_599_001);
    assert.equal(viewNode(node('True', from, from)).readyForMs, 0);
    assert.equal(viewNode(node('True', to, from)).readyForMs, 0);
  });

  it('has been so for nobody knows how long where it does not say, or is not', () => {
    assert.equal(viewNode(node('True', from)).readyForMs, undefined);
    assert.equal(viewNode(node('False', from, to)).readyForMs, undefined);
    assert.equal(viewNode(node('Unknown', from, to)).readyForMs, undefined);
  });
});

describe('a report of an agent', () => {
  const before = idleNode(nodeView('a', 'workers'));
  const saying = (status: KubeletNode['status'], resourceVersion = '2'): KubeletNode => ({
    ...before,
    metadata: { ...before.metadata, resourceVersion },
    status: { ...before.status, ...status },
  });
  const heartbeat = toTimestamp(NOW + 300_000);

  it('is no more than a sign of life where only its time and its version differ', () => {
    assert.equal(isOnlyHeartbeat(before, saying({ heartbeat })), true);
  });

  it('is no more than that in the middle of a trial either', () => {
    const trial = {
      config: 'workers-x',
      since: toTimestamp(NOW),
      restarts: 0,
      healthySeconds: 10,
      durationSeconds: 60,
    };
    assert.equal(
      isOnlyHeartbeat(saying({ trial }), saying({ heartbeat, trial: { ...trial, healthySeconds: 40 } }, '3')),
      true,
    );
    assert.equal(isOnlyHeartbeat(saying({ trial }), saying({ trial: { ...trial, restarts: 1 } }, '3')), false);
  });

  it('is news where it says how far the first half of a trial is: a probation may be over', () => {
    const trial = { config: 'x', since: toTimestamp(NOW), restarts: 0, healthySeconds: 37, durationSeconds: 150 };
    const at = (healthySeconds: number) => saying({ trial: { ...trial, healthySeconds } });
    assert.equal(isOnlyHeartbeat(at(37), at(50)), false);
    assert.equal(isOnlyHeartbeat(at(50), at(50)), true);
    assert.equal(isOnlyHeartbeat(at(62), at(75)), false);
    assert.equal(isOnlyHeartbeat(at(75), at(87)), true);
  });

  it('is news where anything else differs, and where it ends a silence', () => {
    assert.equal(isOnlyHeartbeat(before, saying({ heartbeat, phase: 'Drifted' })), false);
    assert.equal(isOnlyHeartbeat(before, { ...before, spec: { pool: 'workers' } }), false);
    assert.equal(isOnlyHeartbeat(before, saying({ heartbeat: toTimestamp(NOW + 86_400_000) })), false);
    const { status: _, ...silent } = before;
    assert.equal(isOnlyHeartbeat(silent, before), false);
  });
});
