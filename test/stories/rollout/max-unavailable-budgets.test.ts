import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { limitOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';
import { isControlPlane } from '#reconciler/policy/rollout/quorum.ts';
import { LABEL_GRACE_MS } from '#reconciler/policy/rollout/label-grace.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { poolSpec } from '../../support/fleet.ts';
import { amounts, DEADLY, events, GOOD, MOST_NODES, RolloutStory } from '../../support/rollout-story.ts';
import { runsOf } from '../../support/sample.ts';

const MOST = MOST_NODES - 2;

function start(nodes: number, maxUnavailable: number | string): RolloutStory {
  return new RolloutStory({ ...poolSpec().rollout, maxUnavailable }, nodes);
}

describe('nodes that go one at a time', () => {
  for (const [label, isOne] of [
    ['node-role.kubernetes.io/control-plane', true],
    ['node-role.kubernetes.io/master', true],
    ['node-role.kubernetes.io/etcd', true],
    ['node-role.kubernetes.io/worker', false],
    ['example.com/etcd', false],
  ] as const) {
    it(`${isOne ? 'are' : 'are not'} those with the label ${label}`, () => {
      for (const value of ['', 'true']) assert.equal(isControlPlane({ [label]: value }), isOne);
    });
  }
});

describe('budgets', () => {
  it('round as Kubernetes does, and never to a standstill that nobody asked for', () => {
    assert.deepEqual(
      [limitOf(2, 10), limitOf('25%', 10), limitOf('10%', 5), limitOf('0%', 5), limitOf(0, 5), limitOf('100%', 5)],
      [2, 2, 1, 0, 0, 5],
    );
    assert.deepEqual(
      [thresholdOf(2, 10), thresholdOf('25%', 10), thresholdOf('1%', 5), thresholdOf(0, 5)],
      [2, 3, 1, 1],
    );
  });

  it('bound how many nodes ever see a payload that kills kubelets', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: MOST }),
        amounts,
        fc.infiniteStream(fc.nat(MOST - 1)),
        (nodes, allowed, order) => {
          const story = start(nodes, allowed);
          run(story, order, 200);
          story.commit(DEADLY);
          run(story, order, 200);
          const exposed = story.fleet.exposed.get(story.pool(DEADLY).sha256)?.size ?? 0;
          assert.ok(exposed > 0 && exposed <= limitOf(allowed, nodes), String(exposed));
        },
      ),
      { numRuns: runsOf(300, 10) },
    );
  });

  it('never keep a good payload from reaching everybody in the end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: MOST }),
        amounts,
        fc.array(events, { maxLength: 60 }),
        (nodes, allowed, happenings) => {
          const story = start(nodes, allowed);
          for (const event of happenings) {
            story.happen(event);
            story.fleet.reconcile();
          }
          story.happen({ event: 'resume' });
          for (let node = 0; node < MOST_NODES; node += 1) story.happen({ event: 'ready', node });
          story.commit(GOOD[2]);
          // Those that lost their labels leave in the end, because the commit allows it.
          const { inForce } = story.fleet;
          const cluster = { ...DEFAULT_CLUSTER, maxUnassign: '100%' };
          if (inForce !== null) story.fleet.inForce = { ...inForce, repo: { ...inForce.repo, cluster } };
          story.fleet.reconcile();
          story.happen({ event: 'time', minutes: LABEL_GRACE_MS / 60_000 });
          story.fleet.rounds(60);
          const phase = story.fleet.reconcile().pools.get('workers')?.phase;
          const members = [...story.fleet.fleet.nodes.values()].filter(({ labels }) => labels['pool'] === 'workers');
          assert.equal(phase, members.length === 0 ? 'Empty' : 'Settled');
          assert.deepEqual(story.fleet.reconcile().steps, []);
        },
      ),
      { numRuns: runsOf(200, 4) },
    );
  });
});

function run(story: RolloutStory, order: Iterator<number>, steps: number): void {
  for (let i = 0; i < steps; i += 1) {
    story.fleet.reconcile();
    story.happen({ event: 'agent', node: order.next().value ?? 0 });
  }
}
