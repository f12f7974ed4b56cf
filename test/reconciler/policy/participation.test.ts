import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import {
  absenceOf,
  type AbsenceReason,
  isOfParticipation,
  marksOf,
  neverReason,
  type Participant,
} from '#reconciler/policy/participation.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { nodeView } from '../../support/fleet.ts';

type Labels = Readonly<Record<string, string>>;
type Taints = NonNullable<Parameters<typeof marksOf>[1]>;

describe('a node that never takes part', () => {
  const ROWS: readonly (readonly [Labels, 'opted-out' | 'unsupported' | undefined])[] = [
    [{ 'eks.amazonaws.com/compute-type': 'fargate' }, 'unsupported'],
    [{ type: 'virtual-kubelet' }, 'unsupported'],
    [{ type: 'kwok' }, 'unsupported'],
    [{ 'liqo.io/type': 'virtual-node' }, 'unsupported'],
    [{ 'kubernetes.io/os': 'windows' }, 'unsupported'],
    [{ 'kubelet-gitops.dev/opt-out': 'true' }, 'opted-out'],
    [{ 'kubelet-gitops.dev/opt-out': '', type: 'kwok' }, 'opted-out'],

    [{}, undefined],
    [{ 'kubelet-gitops.dev/opt-out': 'false' }, undefined],
    [{ 'kubernetes.io/os': 'linux' }, undefined],
    [{ 'eks.amazonaws.com/compute-type': 'ec2' }, undefined],
    [{ 'eks.amazonaws.com/compute-type': 'hybrid' }, undefined],
    [{ type: 'virtual-machine' }, undefined],
    [{ 'example.com/type': 'virtual-kubelet' }, undefined],
    [{ 'virtual-kubelet.io/provider': 'azure' }, undefined],
    [{ 'liqo.io/type': 'physical' }, undefined],
    [{ 'node.kubernetes.io/instance-type': 'kwok' }, undefined],
  ];
  for (const [labels, expected] of ROWS) {
    it(`is ${expected ?? 'none'} with ${JSON.stringify(labels)}`, () => {
      assert.equal(neverReason({ labels })?.choice, expected);
    });
  }

  it('is one with the taint of a virtual kubelet', () => {
    const { virtual } = marksOf(undefined, [{ key: 'virtual-kubelet.io/provider', value: 'alibabacloud' }]);
    assert.ok(virtual);
    assert.equal(neverReason({ labels: {}, virtual })?.choice, 'unsupported');
  });
});

describe('what the taints of a Node say', () => {
  const LEAVES: readonly Taints[] = [
    [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1790000000' }],
    [{ key: 'karpenter.sh/disrupted' }],
    [{ key: 'karpenter.sh/disruption', value: 'disrupting' }],
    [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown' }],
    [{ key: 'node.cluster.x-k8s.io/outdated-revision' }],
    [{ key: 'gpu', value: 'true' }, { key: 'karpenter.sh/disrupted' }],
  ];
  const STAYS: readonly Taints[] = [
    [],
    [{ key: 'karpenter.sh/disruption', value: 'candidate' }],
    [{ key: 'karpenter.sh/disruption' }],
    [{ key: 'karpenter.sh/unregistered' }],
    [{ key: 'node.cluster.x-k8s.io/uninitialized' }],
    [{ key: 'node.kubernetes.io/unschedulable' }],
    [{ key: 'node.kubernetes.io/not-ready' }],
    [{ key: 'example.com/ToBeDeletedByClusterAutoscaler' }],
    [{ key: 'DeletionCandidateOfClusterAutoscaler', value: '1790000000' }],
    [{ key: 'kubelet-gitops.dev/not-configured' }],
  ];
  for (const taints of LEAVES) {
    it(`${taints.map(({ key }) => key).join()}: the node leaves`, () => {
      assert.ok(marksOf(undefined, taints).leaving !== undefined);
      assert.ok(taints.some(isOfParticipation));
    });
  }
  for (const taints of STAYS) {
    it(`${taints.map(({ key, value = '' }) => key + value).join() || 'none'}: the node stays`, () => {
      assert.equal(marksOf(undefined, taints).leaving, undefined);
    });
  }

  it('is that the autoscaler may remove it, which is no more than that', () => {
    const taint = { key: 'DeletionCandidateOfClusterAutoscaler', value: '1790000000' };
    assert.deepEqual(marksOf(undefined, [taint]), { deletionCandidate: true });
    assert.ok(isOfParticipation(taint));
  });

  it('is nothing of a Node without taints; one that is being deleted leaves', () => {
    assert.deepEqual(marksOf(undefined), {});
    assert.ok(marksOf('2026-11-21T12:00:00Z').leaving !== undefined);
    // An API server may write null for a field that is not set.
    assert.deepEqual(marksOf(null, []), {});
  });
});

describe('a node that cannot take part now', () => {
  const CHANGE: Pick<RolloutSpec, 'notReadyNodes'> = { notReadyNodes: 'change' };
  const DRAIN = { config: 'c', at: 0 };
  const BY_NODE: readonly (readonly [Partial<NodeView>, AbsenceReason | undefined, AbsenceReason | undefined])[] = [
    [{}, undefined, undefined],
    [{ ready: false }, 'not-ready', undefined],
    [{ cordoned: true }, 'cordoned', 'cordoned'],
    [{ cordoned: true, drain: DRAIN }, undefined, undefined],
    [{ leaving: 'x' }, 'leaving', 'leaving'],
    [{ leaving: 'x', cordoned: true, ready: false }, 'leaving', 'leaving'],
    [{ deletionCandidate: true }, undefined, undefined],
  ];
  for (const [view, expected, where] of BY_NODE) {
    it(`is ${expected ?? 'none'}, and where NotReady nodes are changed ${where ?? 'none'}, with ${JSON.stringify(view)}`, () => {
      const who = { node: nodeView('n', 'workers', view), isSilent: false };
      assert.equal(absenceOf(who, undefined)?.hold, expected);
      assert.equal(absenceOf(who, CHANGE)?.hold, where);
    });
  }

  const node = nodeView('n', 'workers', { ready: false, cordoned: true });
  const OTHERS: readonly (readonly [string, Participant, AbsenceReason | undefined])[] = [
    ['its agent is silent', { node, isSilent: true, inChange: true }, 'no-agent'],
    ['there is no config for it', { node, isSilent: false, inChange: true, unrendered: 'no label' }, 'not-computable'],
    ['it is in the middle of a change', { node, isSilent: false, inChange: true }, undefined],
    ['it leaves in the middle', { node: { ...node, leaving: 'x' }, isSilent: false, inChange: true }, 'leaving'],
  ];
  for (const [name, who, expected] of OTHERS) {
    it(`${expected ?? 'is none'} where ${name}`, () => assert.equal(absenceOf(who, undefined)?.hold, expected));
  }

  it('is asked for some of the reasons only', () => {
    const who = { node: { ...node, leaving: 'x' }, isSilent: false };
    assert.equal(absenceOf(who, undefined, ['cordoned', 'no-agent'])?.hold, 'cordoned');
    assert.equal(absenceOf(who, undefined, ['no-agent']), null);
  });
});
