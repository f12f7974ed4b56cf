import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { ConfigSourceView, Fleet } from '#reconciler/policy/fleet.ts';
import { planConfigSources } from '#reconciler/policy/plan-config-sources.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  validPool,
} from '../../support/fleet.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: HOUR };
const workers = validPool('workers', 110);
const a = nodeView('a', 'workers');
const accept = () => [];

describe('a config source', () => {
  it('is made again where it can be edited, and nothing more is done to one that somebody keeps from being deleted', () => {
    const steps = (passing: 'editable' | 'leaving') => {
      const fleet = fleetOf({ configSources: [configSource(workers, { defect: passing })] });
      const of = (...pools: Parameters<typeof commit> extends [string, ...infer P] ? P : never) =>
        planConfigSources(desiredState(commit(COMMIT_B, ...pools), fleet, accept), fleet, SETTINGS, NOW + 9 * HOUR);
      return [of(workers), of()].map((planned) => planned.map(({ step }) => step));
    };
    assert.deepEqual(steps('editable'), [['delete-config-source', 'create-config-source'], ['delete-config-source']]);
    assert.deepEqual(steps('leaving'), [['create-config-source'], []]);
  });

  const stale = (age: number): ConfigSourceView => configSource(workers, { createdAt: NOW - age });
  const pruned = (fleet: Partial<Fleet>, age = 2 * HOUR): number => {
    const whole = { ...fleetOf({ configSources: [stale(age)] }), ...fleet };
    return planConfigSources(desiredState(commit(COMMIT_B), whole, accept), whole, SETTINGS, NOW).length;
  };
  const nodes = (status: object, spec: object = {}) => ({
    kubeletNodes: new Map([['a', { ...idleNode(a, status), spec } as ReturnType<typeof idleNode>]]),
  });
  const reference = { name: workers.configName };

  it('goes when nobody refers to it for longer than it is kept', () => {
    assert.equal(pruned({}, HOUR), 0);
    assert.equal(pruned({}, HOUR + 1), 1);
    assert.equal(pruned(nodes({})), 1);
    assert.equal(pruned({ kubeletNodes: new Map([['a', { metadata: { name: 'a' } }]]) }), 1, 'a new node');
  });

  const users: readonly (readonly [string, Partial<Fleet>])[] = [
    ['is told to run it', nodes({}, { configSource: reference })],
    ['has it assigned', nodes({ assigned: reference })],
    ['runs it', nodes({ active: reference })],
    ['would fall back to it', nodes({ lastKnownGood: reference })],
  ];
  for (const [what, fleet] of users) it(`stays while a node ${what}`, () => assert.equal(pruned(fleet), 0));

  it('stays while a pool has it, or has settled on it', () => {
    const having = (status: object) => ({
      pools: new Map([['x', { ...poolInCluster(workers), status } as KubeletPool]]),
    });
    assert.equal(pruned(having({ configName: workers.configName })), 0);
    assert.equal(pruned(having({ settled: { configName: workers.configName } })), 0);
    assert.equal(pruned(having({})), 1);
  });

  it('of a pool that is only known from the cluster is not made again from nothing', () => {
    const fleet = fleetOf({ pools: [poolInCluster(workers)], configSources: [configSource(workers, { sha256: 'x' })] });
    assert.deepEqual(planConfigSources(desiredState(null, fleet, accept), fleet, SETTINGS, NOW), []);
  });

  it('is made of all that is known of it', () => {
    const fleet = fleetOf({});
    const [step] = planConfigSources(desiredState(commit(COMMIT_B, workers), fleet, accept), fleet, SETTINGS, NOW);
    const { configName: name, sha256, payload } = workers;
    assert.deepEqual(step, {
      step: 'create-config-source',
      pool: 'workers',
      config: { name, sha256, payload },
      commit: COMMIT_B,
    });
  });
});
