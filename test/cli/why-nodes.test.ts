import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderWhy } from '#cli/status/render-why.ts';
import { whyNodes } from '#cli/status/why-nodes.ts';
import { OPT_OUT_LABEL } from '#shared/contract/api/group.ts';
import { DEFAULT_CLUSTER } from '#reconciler/repo/read-cluster.ts';
import { policyOf } from '#reconciler/rollout/cluster-policy.ts';
import { nodeView, poolSpec } from '../support/fleet.ts';
import { GOOD, RolloutStory } from '../support/rollout-story.ts';

const POLICY = JSON.stringify(policyOf(DEFAULT_CLUSTER));
const PLAIN = (_: string, text: string): string => text;

function settledStory(nodes: number): RolloutStory {
  const story = new RolloutStory({ ...poolSpec().rollout, maxUnavailable: 2 }, nodes);
  for (let round = 0; round < 12; round += 1) {
    story.fleet.reconcile();
    story.agentsStep();
  }
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
    const reasons = whyNodes(story.fleet.fleet, POLICY, 'kubelet-gitops', story.fleet.now);
    assert.deepEqual(
      reasons.map(({ node, now, because }) => `${node}: ${now}: ${because}`),
      [
        'kept: opted-out: a label on the node keeps us off it',
        'n0: nothing to do: it was told and is at it',
        'n1: budget: maxUnavailable allows 2 unavailable nodes in this pool; unavailable already: n3',
        'n2: budget: maxUnavailable allows 2 unavailable nodes in this pool; unavailable already: n3',
        'n3: not-ready: the node is not Ready; where this config is to mend it, the pool says rollout.notReadyNodes: change',
        'other: nothing to do: no pool selects it, and it runs its local config',
      ],
    );
    assert.match(renderWhy(reasons, PLAIN), /^NODE +POOL +STANDING +NOW +BECAUSE\nkept/);
  });

  it('are those of a reconciler that lost its record: it starts nothing before it has read git', () => {
    const story = settledStory(3);
    story.commit(GOOD[1]);
    story.fleet.reconcile();
    story.fleet.reconcile();
    const { fleet, now } = story.fleet;
    const doings = (policy: string) => whyNodes(fleet, policy, 'kubelet-gitops', now).map((reason) => reason.now);
    assert.deepEqual(doings(POLICY), ['nothing to do', 'nothing to do', 'budget']);
    assert.deepEqual(doings(''), ['nothing to do', 'nothing to do', 'cluster-file']);
  });
});
