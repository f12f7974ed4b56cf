import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vitalPods } from '#reconciler/policy/allocatable/vital-pods.ts';

const MIB = 2 ** 20;
const asks = (memory: string, cpu = '0') => ({ resources: { requests: { memory, cpu } } });
const plain = { spec: { containers: [asks('1Gi', '1')] } };
const owned = (kind: string, spec: object = plain.spec) => ({ metadata: { ownerReferences: [{ kind }] }, spec });

describe('the pods that a node cannot do without', () => {
  for (const [which, pod, count] of [
    ['of a DaemonSet', owned('DaemonSet'), 1],
    ['static', owned('Node'), 1],
    ['of a critical priority', { spec: { ...plain.spec, priority: 2_000_000_000 } }, 1],
    ['of a critical priority class', { spec: { ...plain.spec, priorityClassName: 'system-cluster-critical' } }, 1],
    ['of a Deployment', owned('ReplicaSet'), 0],
    ['of a high priority', { spec: { ...plain.spec, priority: 1_999_999_999 } }, 0],
    ['of a critical priority that is a text', { spec: { ...plain.spec, priority: '2000000000' } }, 0],
    ['of another priority class', { spec: { ...plain.spec, priorityClassName: 'high' } }, 0],
    ['of a class that only ends so', { spec: { ...plain.spec, priorityClassName: 'my-system-node-critical' } }, 0],
    ['of a class that only begins so', { spec: { ...plain.spec, priorityClassName: 'system-node-critical-2' } }, 0],
    ['of nobody', plain, 0],
    ['that are nothing', null, 0],
    ['that make no sense', { spec: 7, metadata: { ownerReferences: 'DaemonSet' } }, 0],
  ] as const) {
    it(`${count === 1 ? 'are' : 'are not'} those ${which}`, () => {
      const { count: found, requests } = vitalPods([pod]);
      assert.equal(found, count);
      assert.deepEqual(requests, { cpu: count, memory: count * 1024 * MIB, 'ephemeral-storage': 0 });
    });
  }

  it('request what kubelets count: all that runs at once, or the start that asks for most, and the overhead', () => {
    const requested = (spec: object): number => vitalPods([owned('DaemonSet', spec)]).requests.memory / MIB;
    const sidecar = { ...asks('10Mi'), restartPolicy: 'Always' };
    assert.equal(requested({ containers: [asks('100Mi'), asks('20Mi'), {}] }), 120);
    const disk = { containers: [{ resources: { requests: { 'ephemeral-storage': '7' } } }] };
    assert.equal(vitalPods([owned('DaemonSet', disk)]).requests['ephemeral-storage'], 7);
    assert.equal(requested({ containers: [asks('100Mi')], initContainers: [asks('150Mi'), asks('60Mi')] }), 150);
    assert.equal(requested({ containers: [asks('100Mi')], initContainers: [asks('50Mi'), sidecar] }), 110);
    assert.equal(requested({ containers: [asks('100Mi')], initContainers: [sidecar, asks('95Mi')] }), 110);
    assert.equal(requested({ containers: [asks('100Mi')], initContainers: [sidecar, asks('105Mi')] }), 115);
    assert.equal(requested({ containers: [asks('5Mi')], initContainers: [asks('10Mi'), sidecar] }), 15);
    assert.equal(requested({ containers: [{ resources: { requests: { memory: 2 * MIB } } }] }), 2);
    assert.equal(requested({ containers: [asks('100Mi')], overhead: { memory: '5Mi' } }), 105);
  });
});
