import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/node.ts';
import { planRollout } from '#cli/plan/plan-rollout.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { validPool } from '../../support/fleet.ts';

const node = (name: string, zone = '', createdAt?: number, labels = {}, ready = true): InventoryNode => ({
  name,
  labels: { 'topology.kubernetes.io/zone': zone, ...labels },
  kubeletVersion: 'v1.34.2',
  ready,
  capacity: {},
  allocatable: {},
  pods: undefined,
  ...(createdAt === undefined ? {} : { createdAt }),
});

const MINUTE = 60_000;

function plan(nodes: readonly InventoryNode[], rollout: Partial<RolloutSpec>, touched = nodes) {
  const pool = validPool('w', 100);
  const spec = { ...pool.spec, trial: { ...pool.spec.trial, duration: '5m' } };
  const whole: RolloutSpec = { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' }, ...rollout };
  return planRollout({ ...pool, spec: { ...spec, rollout: whole } }, nodes, touched, null);
}

describe('the order of a rollout in a plan', () => {
  it('is by zone, then by age, then by name', () => {
    const nodes = [node('a', 'z2', 1), node('b', 'z1', 9), node('c', 'z1', 3), node('d', 'z1', 3), node('e', 'z1')];
    assert.deepEqual(plan(nodes, {}).waves, [['e'], ['c'], ['d'], ['b'], ['a']]);
  });

  it('has those last that are not Ready, so that canaries are nodes that can prove something', () => {
    const nodes = [node('a', 'z1', 1, {}, false), node('b', 'z1', 2), node('c', 'z2', 3)];
    const { stages } = plan(nodes, { canary: { nodes: 1 } });
    assert.deepEqual(stages, [
      { name: 'canary', nodes: ['b'] },
      { name: 'rest', nodes: ['c', 'a'] },
    ]);
  });

  it('takes as many at a time as the budget of the pool and of each zone allow', () => {
    const nodes = [node('a', 'x'), node('b', 'x'), node('c', 'x'), node('d', 'y')];
    assert.deepEqual(plan(nodes, { maxUnavailable: 2 }).waves, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
    assert.deepEqual(plan(nodes, { maxUnavailable: 2, maxUnavailablePerZone: 1 }).waves, [['a', 'd'], ['b'], ['c']]);
    assert.deepEqual(plan(nodes, { maxUnavailable: 0 }).waves, []);
  });

  it('takes nodes of the control plane one at a time', () => {
    const label = { 'node-role.kubernetes.io/control-plane': '' };
    const nodes = ['a', 'b'].map((name) => node(name, '', undefined, label));
    assert.deepEqual(plan(nodes, { maxUnavailable: 2 }).waves, [['a'], ['b']]);
  });

  it('begins with the canaries, goes on in steps, and lets each soak', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name));
    const { stages, waves, expectedMs } = plan(nodes, {
      maxUnavailable: 2,
      canary: { nodes: 1, soak: '30m' },
      steps: [{ nodes: '50%', soak: '10m' }],
    });
    assert.deepEqual(stages, [
      { name: 'canary', nodes: ['a'] },
      { name: 'step 1', nodes: ['b'] },
      { name: 'rest', nodes: ['c', 'd'] },
    ]);
    assert.deepEqual(waves, [['a'], ['b'], ['c', 'd']]);
    assert.equal(expectedMs, 3 * (5 * MINUTE + 10_000) + 40 * MINUTE);
  });

  it('counts nodes that run the config already as a part of a step', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name));
    const { stages } = plan(nodes, { steps: [{ nodes: '50%' }] }, nodes.slice(1));
    assert.deepEqual(
      stages.map(({ name, nodes: names }) => `${name}: ${names.join(' ')}`),
      ['step 1: b', 'rest: c d'],
    );
  });

  it('knows canaries by their labels', () => {
    const nodes = [node('a'), node('b', '', undefined, { canary: 'yes' })];
    const { stages } = plan(nodes, { canary: { selector: { matchLabels: { canary: 'yes' } } } });
    assert.deepEqual(
      stages.map(({ name, nodes: names }) => `${name}: ${names.join(' ')}`),
      ['canary: b', 'rest: a'],
    );
  });
});
