import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { passResultFromCluster } from '#reconciler/reporting/pass-result-from-cluster.ts';
import { explainNodes } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import {
  COMMIT_A,
  configSource,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  recordOf,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { columns } from '../../support/columns.ts';

const pool = validPool('web', 120);
const nodes = [nodeView('a', 'web'), nodeView('b', 'web')];
const poison = {
  get status(): never {
    throw new RangeError('poison');
  },
};

it('what a waiting replica shows goes without a node that cannot be read, and names it', () => {
  const bad: KubeletNode = Object.defineProperties(
    { metadata: settledNode(nodeView('b', 'web'), pool).metadata },
    Object.getOwnPropertyDescriptors(poison),
  );
  const kubeletNodes = nodes.slice(0, 1).map((node) => settledNode(node, pool));
  const everything = fleetOf({ nodes, kubeletNodes, pools: [poolInCluster(pool)] });
  const fleet = { ...everything, kubeletNodes: new Map([...everything.kubeletNodes, ['b', bad]]) };
  const round = passResultFromCluster(fleet, NO_STATE, 'kubelet-gitops', NOW);
  assert.deepEqual(columns(round.unreadable, 'of', 'name'), [['node', 'b']]);
  assert.deepEqual([...round.fleet.nodes.keys()], ['a']);
});

it('what a waiting replica shows of nodes whose pool is gone: they are on their way, unless the commit or git is in trouble', () => {
  const gone = settledNode(nodeView('a', 'none'), pool);
  const fleet = fleetOf({ nodes: [nodeView('a', 'none')], kubeletNodes: [gone], configSources: [configSource(pool)] });
  const steps = (source: Partial<SourceState>): readonly string[] => {
    const state = { ...NO_STATE, commit: COMMIT_A, policy: JSON.stringify(policyOf(DEFAULT_CLUSTER)), ...source };
    return passResultFromCluster(fleet, state, 'kubelet-gitops', NOW).planned.steps.map(({ step }) => step);
  };
  assert.deepEqual(steps({}), ['unassign']);
  assert.deepEqual(steps({ commit: '' }), []);
  assert.deepEqual(steps({ failingSince: '2026-11-21T12:00:00Z' }), []);
  assert.deepEqual(steps({ findings: 'pools/web/kubelet.yaml:1:1: error odd: odd' }), []);
  assert.deepEqual(steps({ findings: 'pools/other/kubelet.yaml:1:1: error odd: odd' }), ['unassign']);
});

it('a scrape shows all pools but one that cannot be read', async () => {
  const bad: KubeletPool = Object.defineProperties(
    { metadata: { name: 'bad' } },
    Object.getOwnPropertyDescriptors(poison),
  );
  const everything = fleetOf({ nodes, kubeletNodes: [], pools: [poolInCluster(pool, { phase: 'Settled' })] });
  const fleet = { ...everything, pools: new Map([['bad', bad] as const, ...everything.pools]) };
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  metrics.watch({ isLeader: () => true, fleet: () => fleet, pageListeners: () => 0 });
  assert.match(await metrics.text(), /^kubelet_gitops_pool_phase\{pool="web",phase="Settled"\} 1$/m);
});

it('what a waiting replica shows of a node whose kubelet would refuse what the others have: that it is held for it', () => {
  const modern = validPool('web', 120, {}, { serializeImagePulls: false, maxParallelImagePulls: 3 });
  const old = nodeView('old', 'web', { kubeletVersion: 'v1.21.0' });
  const fleet = fleetOf({
    nodes: [...nodes, old],
    kubeletNodes: [...nodes.map((node) => settledNode(node, modern)), idleNode(old)],
    configSources: [configSource(modern)],
    pools: [poolInCluster(modern)],
  });
  const { planned } = passResultFromCluster(fleet, NO_STATE, 'kubelet-gitops', NOW);
  const shown = explainNodes(planned.nodes, fleet, NOW).map(({ node, now }) => [node, now]);
  assert.deepEqual(shown, [
    ['a', 'nothing to do'],
    ['b', 'nothing to do'],
    ['old', 'not-valid'],
  ]);
});

it('what a waiting replica shows of a machine of a new class: that its pool is halted, where it is', () => {
  const joiner = nodeView('joiner', 'web');
  const shown = (halt?: Halt): readonly string[] => {
    const status = { classes: [], proof: writeProof([recordOf('large', pool.sha256)]), ...(halt && { halt }) };
    const fleet = fleetOf({
      nodes: [...nodes, joiner],
      kubeletNodes: [...nodes.map((node) => settledNode(node, pool)), idleNode(joiner)],
      configSources: [configSource(pool)],
      pools: [poolInCluster(pool, status)],
    });
    const { planned } = passResultFromCluster(fleet, NO_STATE, 'kubelet-gitops', NOW);
    return explainNodes(planned.nodes, fleet, NOW).map(({ node, now }) => `${node}: ${now}`);
  };
  const settled = ['a: nothing to do', 'b: nothing to do'];
  assert.deepEqual(shown(), [...settled, 'joiner: not-computable']);
  const { configName: config, sha256 } = pool;
  const halt = {
    config,
    sha256,
    at: '2026-11-21T12:00:00Z',
    message: 'its preflight refuses it',
    action: 'halt',
  } as const;
  assert.deepEqual(shown(halt), [...settled, 'joiner: halted']);
});
