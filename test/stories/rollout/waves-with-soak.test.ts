import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { poolSpec } from '../../support/fleet.ts';
import { DEADLY, GOOD, RolloutStory } from '../../support/rollout-story.ts';

const ALL_AT_ONCE: RolloutSpec = { ...poolSpec().rollout, maxUnavailable: 12 };

/** Lets everybody do what there is to do, until nothing moves; time stands still. */
function settle(story: RolloutStory): void {
  story.fleet.rounds(8);
}

/** A pool of nodes that settled on the first payload an hour ago. */
function settled(rollout: RolloutSpec, nodes: number): RolloutStory {
  const story = new RolloutStory({ ...rollout, soak: '0s' }, nodes);
  for (let round = 0; round < 40; round += 1) {
    settle(story);
    wait(story, 10);
  }
  assert.equal(statusOf(story)?.phase, 'Settled');
  return story;
}

const statusOf = (story: RolloutStory) => story.fleet.fleet.pools.get('workers')?.status;
const wait = (story: RolloutStory, minutes: number): void => story.happen({ event: 'time', minutes });

/** The names of the nodes that were told this payload. */
function told(story: RolloutStory, maxPods: number): readonly string[] {
  const { sha256 } = story.pool(maxPods);
  const nodes = [...story.fleet.fleet.kubeletNodes.values()];
  return nodes
    .filter(({ spec }) => spec?.configSource?.sha256 === sha256)
    .map(({ metadata }) => metadata.name)
    .sort();
}

describe('waves', () => {
  it('begin with as many canaries as asked for, and go on when these were healthy for their soak', () => {
    const story = settled(
      { ...ALL_AT_ONCE, canary: { nodes: 1, soak: '10m' }, steps: [{ nodes: '50%', soak: '5m' }] },
      6,
    );
    story.commit(GOOD[1]);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 1);
    wait(story, 9);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 1, 'ten minutes are not over');
    wait(story, 1);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 3, 'the first step');
    wait(story, 5);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 6);
    settle(story);
    assert.equal(statusOf(story)?.phase, 'Settled');
    assert.deepEqual(
      statusOf(story)?.rollout?.waves.map(({ name, nodes, state }) => `${name} ${nodes} ${state}`),
      ['canary 1 done', 'step 1 3 done', 'rest 6 done'],
    );
  });

  it('count healthy time only: a canary that was NotReady begins its soak again', () => {
    const story = settled({ ...ALL_AT_ONCE, canary: { nodes: 1, soak: '10m' } }, 4);
    story.commit(GOOD[1]);
    settle(story);
    const [canary = ''] = told(story, GOOD[1]);
    wait(story, 8);
    story.happen({ event: 'not-ready', node: Number(canary.slice(1)) });
    settle(story);
    assert.equal(statusOf(story)?.rollout?.waves[0]?.state, 'stopped');
    wait(story, 2);
    story.happen({ event: 'ready', node: Number(canary.slice(1)) });
    settle(story);
    assert.equal(statusOf(story)?.rollout?.waves[0]?.state, 'soaking');
    assert.equal(told(story, GOOD[1]).length, 1);
    wait(story, 10);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 4);
  });

  it('stay done when a node of theirs falls ill later', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 2, canary: { nodes: 1, soak: '1m' } }, 5);
    story.commit(GOOD[1]);
    settle(story);
    const [canary = ''] = told(story, GOOD[1]);
    wait(story, 1);
    story.fleet.reconcile();
    story.happen({ event: 'not-ready', node: Number(canary.slice(1)) });
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 5);
  });

  it('wait forever for canaries that do not exist, and say so', () => {
    const selective = new RolloutStory(
      { ...ALL_AT_ONCE, canary: { selector: { matchLabels: { canary: 'no-such' } } } },
      4,
    );
    settle(selective);
    assert.deepEqual(told(selective, GOOD[0]), []);
    assert.match(statusOf(selective)?.message ?? '', /no node of the pool matches the selector of its canaries/);
  });

  it('change the canaries that a selector names, and nobody else before they proved themselves', () => {
    const story = settled({ ...ALL_AT_ONCE, canary: { selector: { matchLabels: { canary: 'yes' } }, soak: '5m' } }, 6);
    story.commit(GOOD[1]);
    settle(story);
    assert.deepEqual(told(story, GOOD[1]), ['n0', 'n1']);
    wait(story, 5);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 6);
  });

  it('begin again with a newer commit: nodes that had not begun go straight to it', () => {
    const story = settled({ ...ALL_AT_ONCE, canary: { nodes: 1, soak: '10m' } }, 5);
    story.commit(GOOD[1]);
    settle(story);
    wait(story, 10);
    story.commit(GOOD[2]);
    settle(story);
    assert.deepEqual([told(story, GOOD[1]).length, told(story, GOOD[2]).length], [0, 1]);
    wait(story, 10);
    settle(story);
    assert.equal(told(story, GOOD[2]).length, 5);
    const middle = story.fleet.exposed.get(story.pool(GOOD[1]).sha256);
    assert.equal(middle?.size, 1, 'four nodes never heard of the commit in between');
  });
});

describe('a payload that fails', () => {
  const onFailure = { threshold: 1, action: 'revert' as const };

  it('halts the pool, and what was updated stays, where the policy is halt', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 1 }, 4);
    story.commit(DEADLY);
    settle(story);
    const { halt, message, settled: good } = statusOf(story) ?? {};
    assert.match(
      message ?? '',
      /^workers-\w+ failed on n\d \(threshold 1\); push a fix or a revert, or release the pool$/,
    );
    assert.equal(halt?.action, 'halt');
    assert.equal(good?.sha256, story.pool(GOOD[0]).sha256);
    assert.equal(told(story, DEADLY).length, 1);
  });

  it('is taken back from every node, where the policy is revert, and no later look begins it again', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 2, onFailure: { threshold: 2, action: 'revert' } }, 6);
    const kind = story.pool(DEADLY).sha256;
    story.commit(DEADLY);
    // It kills some kubelets only: two nodes live with it before the others show what it is.
    story.fleet.deadly.delete(kind);
    story.fleet.rounds(3);
    story.fleet.deadly.add(kind);
    settle(story);
    assert.deepEqual(told(story, DEADLY), []);
    assert.equal(told(story, GOOD[0]).length, 6);
    assert.equal(statusOf(story)?.phase, 'Halted');
    assert.match(statusOf(story)?.message ?? '', /6 of 6 nodes are back$/);
    wait(story, 30);
    settle(story);
    assert.deepEqual(story.fleet.reconcile().steps, []);
  });

  it('goes on when a person releases this very halt, and halts again with the next failure', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 1, onFailure: { threshold: 1, action: 'halt' } }, 3);
    story.commit(DEADLY);
    settle(story);
    const first = statusOf(story)?.halt?.at;
    wait(story, 5);
    story.happen({ event: 'release' });
    story.fleet.reconcile();
    assert.equal(statusOf(story)?.halt, undefined);
    settle(story);
    const again = statusOf(story)?.halt?.at;
    assert.ok(again !== undefined && again !== first, 'it failed again and is halted again');
    wait(story, 5);
    story.fleet.deadly.clear();
    story.happen({ event: 'release' });
    settle(story);
    settle(story);
    assert.equal(statusOf(story)?.phase, 'Settled');
    assert.equal(told(story, DEADLY).length, 3);
  });

  it('is not given to a new node, which gets what the pool settled on', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 1, onFailure }, 3);
    story.commit(DEADLY);
    settle(story);
    story.happen({ event: 'join', node: 7 });
    settle(story);
    assert.deepEqual(told(story, GOOD[0]), ['n0', 'n1', 'n2', 'n7']);
  });
});

describe('a new node', () => {
  it('gets what its pool settled on at once, though the budget is used up and a rollout is under way', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 1, canary: { nodes: 1, soak: '1h' } }, 3);
    story.commit(GOOD[1]);
    settle(story);
    story.happen({ event: 'not-ready', node: 2 });
    story.happen({ event: 'join', node: 8 });
    story.fleet.reconcile();
    story.fleet.reconcile();
    assert.deepEqual(told(story, GOOD[0]).includes('n8'), true);
  });
});

describe('a suspended pool', () => {
  it('begins nothing, lets trials end, and goes on when it is resumed', () => {
    const story = settled({ ...ALL_AT_ONCE, maxUnavailable: 1 }, 3);
    story.happen({ event: 'suspend' });
    story.commit(GOOD[1]);
    settle(story);
    assert.deepEqual(told(story, GOOD[1]), []);
    assert.deepEqual(
      statusOf(story)?.holds?.map(({ reason, nodes, message }) => [reason, nodes, message]),
      [['suspended', 3, 'the pool is suspended (a look at it); kubelet-gitops resume ends it']],
    );
    story.happen({ event: 'resume' });
    settle(story);
    settle(story);
    assert.equal(told(story, GOOD[1]).length, 3);
  });
});
