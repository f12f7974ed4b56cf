import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodesFrom } from '#cli/inventory/read-inventory.ts';
import { columns } from '../../support/columns.ts';

const node = (name: string) => ({ kind: 'Node', metadata: { name }, status: { capacity: { cpu: '4' } } });
const knode = (name: string, numaNodes?: unknown) => ({
  kind: 'KubeletNode',
  metadata: { name },
  status: numaNodes === undefined ? {} : { numaNodes },
});

describe('an inventory', () => {
  it('has what agents say of their machines where KubeletNodes are among its objects', () => {
    const found = nodesFrom([
      node('b'),
      knode('b', 2),
      knode('a', 'many'),
      node('a'),
      knode('c', 4),
      node('d'),
      knode('d'),
    ]);
    assert.deepEqual(columns(found, 'name', 'numaNodes'), [
      ['a', undefined],
      ['b', 2],
      ['d', undefined],
    ]);
  });

  const spoken = (name: string, heartbeat?: string) => ({
    kind: 'KubeletNode',
    metadata: { name },
    status: { heartbeat },
  });
  const silentIn = (...objects: readonly object[]): readonly string[] =>
    nodesFrom(objects).flatMap(({ name, silent }) => (silent === true ? [name] : []));

  it('says whose agents are silent, by the time at which the last one spoke', () => {
    const nodes = ['a', 'b', 'c', 'd'].map(node);
    const objects = [
      ...nodes,
      spoken('a', '2026-11-21T12:00:00Z'),
      spoken('b', '2026-11-21T11:45:00Z'),
      spoken('c', '2026-11-21T11:44:59Z'),
      spoken('e', '2026-11-21T12:00:00Z'),
    ];
    assert.deepEqual(silentIn(...objects), ['c', 'd']);
    assert.deepEqual(silentIn(...nodes), [], 'nothing is known of agents');
    assert.deepEqual(silentIn(...nodes, spoken('a'), spoken('b', 'today')), []);
  });

  it('says that all agents are silent where kubelets spoke long after them', () => {
    const alive = (name: string, lastHeartbeatTime: string) => ({
      ...node(name),
      status: { conditions: [{ type: 'MemoryPressure', lastHeartbeatTime }, { type: 'KubeletConfigHealthy' }] },
    });
    const nodes = [alive('a', '2026-11-21T12:00:00Z'), alive('b', '2026-11-20T12:00:00Z')];
    const agents = [spoken('a', '2026-11-21T11:44:59Z'), spoken('b', '2026-11-21T11:45:00Z')];
    assert.deepEqual(silentIn(...nodes, ...agents), ['a']);
    assert.deepEqual(silentIn(...nodes, spoken('a'), spoken('b', '2026-11-20T12:00:00Z')), ['a', 'b']);
    assert.deepEqual(silentIn(...nodes), [], 'nothing is known of agents');
  });

  it('says what the taints of nodes, their cordon and their deletion mean', () => {
    const told = (metadata: object, spec: object) => {
      const [found] = nodesFrom([{ kind: 'Node', metadata: { name: 'a', ...metadata }, spec }]);
      return [found?.cordoned, found?.virtual, found?.leaving !== undefined, found?.deletionCandidate];
    };
    const ours = { annotations: { 'kubelet-gitops.dev/cordoned': 'c 2026-11-21T12:00:00Z' } };
    const none = [undefined, undefined, false, undefined];
    assert.deepEqual(told({}, {}), none);
    assert.deepEqual(told({}, { unschedulable: true }), [true, undefined, false, undefined]);
    assert.deepEqual(told(ours, { unschedulable: true }), none, 'our own drain is about to change it');
    assert.deepEqual(told({ deletionTimestamp: '2026-11-21T12:00:00Z' }, {}), [undefined, undefined, true, undefined]);
    const taints = ['karpenter.sh/disrupted', 'virtual-kubelet.io/provider', 'DeletionCandidateOfClusterAutoscaler'];
    assert.deepEqual(told({}, { taints: taints.map((key) => ({ key })) }), [undefined, true, true, true]);
    assert.deepEqual(told({}, { taints: [null, 'x', { key: 7 }] }), none);
  });
});
