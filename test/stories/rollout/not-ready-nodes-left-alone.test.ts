import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { explainNodes } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { poolSpec } from '../../support/fleet.ts';
import { DEADLY, GOOD, RolloutStory } from '../../support/rollout-story.ts';

const FIXING: RolloutSpec = { ...poolSpec().rollout, maxUnavailable: 2, notReadyNodes: 'change' };

/** A pool that settled on the first payload; after that these of its nodes are not Ready any more. */
function fallenIll(rollout: RolloutSpec, nodes: number, ...ill: readonly number[]): RolloutStory {
  const story = new RolloutStory(rollout, nodes);
  for (let round = 0; round < 60; round += 1) work(story);
  assert.equal(story.fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  for (const node of ill) story.happen({ event: 'not-ready', node });
  return story;
}

/** One round of everybody, and time for any soak. */
function work(story: RolloutStory): void {
  story.fleet.rounds(1);
  story.happen({ event: 'time', minutes: 12 });
}

/** A commit, until the first nodes were told of it: its ConfigMap has to be there before. */
function begin(story: RolloutStory): void {
  story.commit(GOOD[1]);
  story.fleet.reconcile();
  story.fleet.reconcile();
}

/** Who was told this payload, in order of their names. */
function told(story: RolloutStory, maxPods: number): readonly string[] {
  const { sha256 } = story.pool(maxPods);
  const nodes = [...story.fleet.fleet.kubeletNodes.values()];
  const those = nodes.filter(({ spec }) => spec?.configSource?.sha256 === sha256);
  return those.map(({ metadata }) => metadata.name).sort();
}

function why(story: RolloutStory, name: string): string {
  const { nodes } = story.fleet.reconcile();
  const found = explainNodes(nodes, story.fleet.fleet, story.fleet.now).find(({ node }) => node === name);
  return `${found?.now}: ${found?.because}`;
}

describe('nodes that are not Ready', () => {
  it('are left alone, whatever is committed, and say how that is changed', () => {
    const { notReadyNodes: _, ...waiting } = FIXING;
    for (const rollout of [waiting, { ...waiting, notReadyNodes: 'wait' as const }]) {
      const story = fallenIll(rollout, 4, 0);
      story.commit(GOOD[1]);
      for (let round = 0; round < 10; round += 1) work(story);
      assert.deepEqual(told(story, GOOD[1]), ['n1', 'n2', 'n3']);
      assert.match(why(story, 'n0'), /^not-ready: .*rollout\.notReadyNodes: change in the pool$/);
    }
  });

  it('are changed where their pool says so, as many at a time as may be unavailable, though all of those are already', () => {
    const story = fallenIll(FIXING, 5, 0, 1, 2);
    begin(story);
    assert.deepEqual(told(story, GOOD[1]), ['n0', 'n1'], 'three of two places are taken: no Ready node is changed');
    assert.match(why(story, 'n2'), /^budget: /);
    assert.match(why(story, 'n3'), /^budget: /);
    work(story);
    work(story);
    story.fleet.reconcile();
    assert.deepEqual(told(story, GOOD[1]), ['n0', 'n1', 'n2']);
    for (const node of [0, 1, 2]) story.happen({ event: 'ready', node });
    for (let round = 0; round < 10; round += 1) work(story);
    assert.equal(told(story, GOOD[1]).length, 5, 'fixed, and the others follow');
  });

  it('cost no Ready node its place', () => {
    const story = fallenIll({ ...FIXING, maxUnavailable: 3 }, 6, 0, 1);
    begin(story);
    assert.deepEqual(told(story, GOOD[1]), ['n0', 'n1', 'n3']);
  });

  it('are no canaries while a Ready one may be', () => {
    const canary = { ...FIXING, canary: { nodes: 1, soak: '30m' } };
    const some = fallenIll(canary, 4, 0);
    begin(some);
    assert.deepEqual(told(some, GOOD[1]), ['n3'], 'the oldest of the first zone that is Ready');
    const most = fallenIll(canary, 4, 0, 3);
    most.commit(GOOD[1]);
    for (let round = 0; round < 10; round += 1) work(most);
    assert.deepEqual(told(most, GOOD[1]), ['n0'], 'a canary that stays ill has proven nothing');
    most.happen({ event: 'ready', node: 0 });
    for (let round = 0; round < 20; round += 1) work(most);
    assert.equal(told(most, GOOD[1]).length, 4);
  });

  it('are let be where somebody cordoned them, or where their pool changes nothing', () => {
    const cordoned = fallenIll(FIXING, 3);
    const node = cordoned.fleet.fleet.nodes.get('n0');
    assert.ok(node);
    cordoned.fleet.addNode({ ...node, ready: false, cordoned: true });
    cordoned.commit(GOOD[1]);
    for (let round = 0; round < 10; round += 1) work(cordoned);
    assert.deepEqual(told(cordoned, GOOD[1]), ['n1', 'n2']);
    assert.match(why(cordoned, 'n0'), /^cordoned: /);

    const frozen = new RolloutStory({ ...FIXING, maxUnavailable: 0 }, 3);
    frozen.happen({ event: 'not-ready', node: 0 });
    frozen.commit(GOOD[1]);
    work(frozen);
    assert.deepEqual(told(frozen, GOOD[1]), []);
  });

  it('go on alone in the control plane, and not beside another that is away', () => {
    const one = fallenIll(FIXING, 12, 9);
    one.commit(GOOD[1]);
    for (let round = 0; round < 30; round += 1) work(one);
    assert.equal(told(one, GOOD[1]).includes('n9'), true, 'it is the one that is away');
    assert.equal(told(one, GOOD[1]).includes('n10'), false);

    const two = fallenIll(FIXING, 12, 9, 10);
    two.commit(GOOD[1]);
    for (let round = 0; round < 30; round += 1) work(two);
    assert.match(why(two, 'n9'), /^control-plane: /);
    assert.match(why(two, 'n10'), /^control-plane: /);
  });
});

describe('nodes that are not Ready because of a change that they are in the middle of', () => {
  /** As the kubelet of a trial makes them, or one that came back with nothing. */
  function illWith(phase: 'Trial' | 'Broken', nodes: number): RolloutStory {
    const { notReadyNodes: _, ...rollout } = FIXING;
    const story = fallenIll({ ...rollout, maxUnavailable: nodes }, nodes);
    story.commit(DEADLY);
    story.fleet.reconcile();
    story.fleet.reconcile();
    story.fleet.agentsStep();
    for (const [index, name] of [...story.fleet.fleet.nodes.keys()].entries()) {
      story.happen({ event: 'not-ready', node: index });
      story.fleet.report(name, { ...story.fleet.fleet.kubeletNodes.get(name)?.status, phase });
    }
    return story;
  }

  it('are told what is to fix them, though no node of their pool is left that is Ready', () => {
    for (const phase of ['Trial', 'Broken'] as const) {
      for (const nodes of [1, 3]) {
        const story = illWith(phase, nodes);
        // As in a cluster: pods are counted before a config comes that bounds them.
        for (const name of story.fleet.fleet.nodes.keys()) story.fleet.running.set(name, 5);
        begin(story);
        story.fleet.reconcile();
        assert.equal(told(story, GOOD[1]).length, nodes, `${phase}, ${nodes} nodes`);
      }
    }
  });

  it('are told in waves all the same: nobody but canaries before these have proven themselves', () => {
    const { notReadyNodes: _, ...rollout } = FIXING;
    const story = fallenIll({ ...rollout, maxUnavailable: 3, canary: { nodes: 1, soak: '30m' } }, 3);
    for (const node of story.fleet.fleet.nodes.keys()) {
      story.fleet.report(node, { ...story.fleet.fleet.kubeletNodes.get(node)?.status, phase: 'Broken' });
    }
    for (const node of [0, 1, 2]) story.happen({ event: 'not-ready', node });
    begin(story);
    assert.deepEqual(told(story, GOOD[1]), ['n0']);
  });
});

describe('a pool that has nodes changed which are not Ready', () => {
  it('has not settled when all the others run the payload and theirs is only ordered', () => {
    const story = fallenIll({ ...FIXING, maxUnavailable: 1 }, 3, 2);
    const { configName } = story.pool(GOOD[1]);
    const settledOn = (): string | undefined => story.fleet.fleet.pools.get('workers')?.status?.settled?.configName;
    story.commit(GOOD[1]);
    story.happen({ event: 'ready', node: 2 });
    while (told(story, GOOD[1]).length < 2) work(story);
    story.happen({ event: 'not-ready', node: 2 });
    for (let round = 0; round < 9 && told(story, GOOD[1]).length < 3; round += 1) work(story);
    assert.deepEqual([told(story, GOOD[1]).length, settledOn() === configName], [3, false]);
    for (let round = 0; round < 4; round += 1) work(story);
    assert.equal(settledOn(), configName);
  });
});
