import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { ConfigSourceView, Fleet } from '#reconciler/policy/fleet.ts';
import { planConfigSources } from '#reconciler/policy/plan-config-sources.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
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
  recordOf,
  validPool,
} from '../../support/fleet.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: HOUR };
const workers = validPool('workers', 110);
const a = nodeView('a', 'workers');
const accept = () => [];

describe('a ConfigMap that no pool wants', () => {
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

  it('stays while a pool has it, or has settled on it, or a class of it is to run it or proved it', () => {
    const having = (status: object) => ({
      pools: new Map([['x', { ...poolInCluster(workers), status } as KubeletPool]]),
    });
    assert.equal(pruned(having({ configName: workers.configName })), 0);
    assert.equal(pruned(having({ settled: { configName: workers.configName } })), 0);
    for (const is of ['current', 'proven', 'former'] as const) {
      const none = { ...recordOf('', ''), current: null, proven: null };
      const target = { sha256: workers.sha256, apply: 'overlay' } as const;
      assert.equal(pruned(having({ proof: writeProof([{ ...none, [is]: target }]) })), 0, is);
    }
    assert.equal(pruned(having({ proof: writeProof([recordOf('', 'f'.repeat(64))]) })), 1);
    assert.equal(pruned(having({})), 1);
  });

  it('stays while the reconciler knows of it what the status has lost', () => {
    const target = { sha256: workers.sha256, apply: 'overlay' } as const;
    const whole = fleetOf({ configSources: [stale(2 * HOUR)] });
    const desired = desiredState(commit(COMMIT_B), whole, accept);
    const status = { proof: writeProof([{ ...recordOf('', 'f'.repeat(64)), former: target }]) };
    assert.equal(planConfigSources(desired, whole, SETTINGS, NOW, [status]).length, 0);
  });
});
