import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderWhy } from '#cli/status/render-why.ts';
import { nodeReasonsOf, readFleet } from '#cli/status/node-reasons.ts';
import { OPT_OUT_LABEL, MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL } from '#shared/contract/api/group.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import {
  COMMIT_A,
  COMMIT_B,
  commit,
  fleetOf,
  NOW,
  nodeView,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { GOOD, RolloutStory } from '../../support/rollout-story.ts';
import { CONFIG_MAPS, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';

const POLICY = JSON.stringify(policyOf(DEFAULT_CLUSTER));
const SOURCE = { ...NO_STATE, commit: COMMIT_A, policy: POLICY };
const PLAIN = (_: string, text: string): string => text;

function settledStory(nodes: number): RolloutStory {
  const story = new RolloutStory({ ...poolSpec().rollout, maxUnavailable: 2 }, nodes);
  story.fleet.rounds(12);
  return story;
}

describe('the reasons of every node', () => {
  it('are those of the planner, one for each, with nodes that nobody touches', () => {
    const story = settledStory(4);
    story.happen({ event: 'not-ready', node: 3 });
    story.fleet.addNode(nodeView('kept', 'workers', { labels: { pool: 'workers', [OPT_OUT_LABEL]: 'true' } }));
    story.fleet.addNode(nodeView('other', 'nobody'));
    story.commit(GOOD[1]);
    story.fleet.reconcile();
    story.fleet.reconcile();
    const reasons = nodeReasonsOf(story.fleet.fleet, SOURCE, 'kubelet-gitops', story.fleet.now);
    assert.deepEqual(
      reasons.map(({ node, now, because }) => `${node}: ${now}: ${because}`),
      [
        'kept: opted-out: opted out by a label',
        'n0: nothing to do: applying the config now',
        'n1: budget: maxUnavailable allows 2 unavailable nodes in this pool; unavailable already: n3',
        'n2: budget: maxUnavailable allows 2 unavailable nodes in this pool; unavailable already: n3',
        'n3: not-ready: the node is not Ready; if this config fixes that, set rollout.notReadyNodes: change in the pool',
        'other: nothing to do: no pool selects it, and it runs its local config',
      ],
    );
    assert.match(renderWhy(reasons, PLAIN), /^NODE +POOL +STANDING +NOW +BECAUSE\nkept/);
  });

  it('know nodes on their way out of a pool that was taken out of git, as the reconciler does', () => {
    const simulation = new FleetSimulation();
    for (const name of ['n0', 'n1', 'n2']) simulation.addNode(nodeView(name, 'workers'));
    const workers = validPool('workers', 110, { suspend: true });
    const first = validPool('first', 111, { priority: 9, nodeSelector: { matchLabels: { first: 'true' } } });
    simulation.inForce = commit(COMMIT_A, workers, first);
    simulation.addNode(nodeView('n0', 'workers', { labels: { pool: 'workers', first: 'true' } }));
    for (let round = 0; round < 6; round += 1) {
      simulation.reconcile();
      simulation.agentStep('n0');
    }
    simulation.addNode(nodeView('n0', 'workers'));
    simulation.inForce = commit(COMMIT_B, workers);
    for (let round = 0; round < 3; round += 1) simulation.reconcile();
    const said = (source: typeof SOURCE): readonly string[] =>
      nodeReasonsOf(simulation.fleet, source, 'kubelet-gitops', simulation.now).map(({ now }) => now);
    assert.equal(simulation.fleet.kubeletNodes.get('n0')?.spec?.pool, 'first');
    assert.deepEqual(said(SOURCE), ['suspended', 'suspended', 'suspended']);
    const broken = 'pools/first/kubelet.yaml:4:1: error unknown-field: no kubelet up to 1.37 knows maxPodz';
    for (const source of [
      { ...SOURCE, commit: '' },
      { ...SOURCE, findings: broken },
      { ...SOURCE, failingSince: '2026-11-21T12:00:00Z' },
    ]) {
      assert.deepEqual(said(source), ['unknown', 'suspended', 'suspended']);
    }
  });

  it('name what a node runs where its pool was renamed since: the same config, so that no kubelet restarted', () => {
    const pool = validPool('accel', 110);
    const node = nodeView('n0', 'accel');
    const { active } = settledNode(node, pool).status ?? {};
    const renamed = settledNode(node, pool, { active: { ...active, name: 'gpu-mk6gm47h49' } });
    const fleet = fleetOf({ nodes: [node], kubeletNodes: [renamed], pools: [poolInCluster(pool)] });
    const [reason] = nodeReasonsOf(fleet, SOURCE, 'kubelet-gitops', NOW);
    const said = 'up to date and proven (as gpu-mk6gm47h49, the same config under another name)';
    assert.deepEqual([reason?.standing, reason?.because], ['settled', said]);
  });

  it('name what a node asks a restart for, and what it waits for', () => {
    const story = settledStory(3);
    for (const node of [0, 1, 2]) story.happen({ event: 'rewrite', node, base: 'b1' });
    story.fleet.reconcile();
    const why = nodeReasonsOf(story.fleet.fleet, SOURCE, 'kubelet-gitops', story.fleet.now);
    assert.deepEqual(
      why.map(({ node, standing, now, because }) => `${node}: ${standing}: ${now}: ${because}`),
      [
        'n0: updating: nothing to do: applying the config now',
        'n1: updating: nothing to do: applying the config now',
        'n2: awaits-turn: budget: its own config file changed; its restart waits: maxUnavailable allows 2 unavailable nodes in this pool',
      ],
    );
  });

  it('hold up for a pod that must not run the node alone that it runs on, where the status names all such nodes', () => {
    const story = settledStory(3);
    story.commit(GOOD[1]);
    story.fleet.reconcile();
    const { fleet } = story.fleet;
    const pool = fleet.pools.get('workers');
    assert.ok(pool?.spec !== undefined && pool.status !== undefined);
    const spec = { ...pool.spec, blockers: { pods: { selector: { matchLabels: { app: 'backup' } } } } };
    const why = (nodes: number): readonly string[] => {
      const message = 'the pod ops/backup runs there, which blockers.pods waits for';
      const holds = [{ reason: 'blocked', nodes, examples: ['n1'], message }];
      const pools = new Map([['workers', { ...pool, spec, status: { ...pool.status, holds } }]]);
      return nodeReasonsOf({ ...fleet, pools }, SOURCE, 'kubelet-gitops', story.fleet.now).map(({ now }) => now);
    };
    assert.deepEqual(why(1), ['change now', 'blocked', 'change now']);
    assert.deepEqual(why(9), ['blocked', 'blocked', 'blocked']);
  });

  it('are those of a reconciler that lost its record: it starts nothing before it has read git', () => {
    const story = settledStory(3);
    story.commit(GOOD[1]);
    story.fleet.reconcile();
    story.fleet.reconcile();
    const { fleet, now } = story.fleet;
    const doings = (policy: string) =>
      nodeReasonsOf(fleet, { ...SOURCE, policy }, 'kubelet-gitops', now).map((reason) => reason.now);
    assert.deepEqual(doings(POLICY), ['nothing to do', 'nothing to do', 'budget']);
    assert.deepEqual(doings(''), ['nothing to do', 'nothing to do', 'cluster-file']);
  });
});

it('what the planner looks at is read from the namespace alone that is asked for, and of ConfigMaps only our own', async () => {
  await using sandbox = await aSandbox({ namespaces: ['ours', 'theirs'] });
  const { store } = sandbox.server;
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY, [POOL_LABEL]: 'general' };
  store.seed(CONFIG_MAPS, { metadata: { name: 'general-a', namespace: 'ours', labels } });
  store.seed(CONFIG_MAPS, { metadata: { name: 'notes', namespace: 'ours' } });
  store.seed(CONFIG_MAPS, { metadata: { name: 'general-b', namespace: 'theirs', labels } });
  for (const resource of [NODES, KUBELET_NODES]) store.seed(resource, { metadata: { name: 'n-1' } });
  store.seed(KUBELET_POOLS, { metadata: { name: 'general' } });
  const { nodes, kubeletNodes, pools, configSources } = await readFleet(sandbox.kube, 'ours');
  const names = [nodes, kubeletNodes, pools, configSources].map((objects) => [...objects.keys()]);
  assert.deepEqual(names, [['n-1'], ['n-1'], ['general'], ['general-a']]);
});
