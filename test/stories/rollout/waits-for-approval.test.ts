import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { awaitedApprovals, approvalValue } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, BY_ANNOTATION } from '#shared/contract/api/group.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { claimText } from '#shared/contract/claim.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { poolSpec } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';
import { DEADLY, GOOD, RolloutStory, rollouts } from '../../support/rollout-story.ts';

const [OLD, NEW, NEWER] = GOOD;
const PAUSED: RolloutSpec = {
  ...poolSpec().rollout,
  maxUnavailable: 12,
  canary: { nodes: 1, pause: true },
  steps: [{ nodes: 3, pause: true }],
};

const statusOf = (story: RolloutStory) => story.fleet.fleet.pools.get('workers')?.status;
const waiting = (story: RolloutStory) => awaitedApprovals(statusOf(story));

/** Everybody does what there is to do, and time goes on. */
function pass(story: RolloutStory, times = 1): void {
  for (let time = 0; time < times; time += 1) {
    story.fleet.rounds(8);
    story.happen({ event: 'time', minutes: 5 });
  }
}

/** What `kubelet-gitops approve workers` writes. @returns it, or undefined where nothing waits */
function approve(story: RolloutStory, who = 'ada'): string | undefined {
  const [asked] = waiting(story);
  if (asked === undefined) return undefined;
  const value = approvalValue(asked);
  const at = toTimestamp(story.fleet.now);
  const by = claimText({ verb: 'approve', at, who }, value);
  story.fleet.annotatePool('workers', { [APPROVE_ANNOTATION]: value, [BY_ANNOTATION]: by });
  return value;
}

/** How many nodes were told this payload. */
const told = (story: RolloutStory, maxPods: number): number => {
  const { sha256 } = story.pool(maxPods);
  const nodes = [...story.fleet.fleet.kubeletNodes.values()];
  return nodes.filter(({ spec }) => spec?.configSource?.sha256 === sha256).length;
};

/** A pool that settled on the first payload, and is given the second. */
function begun(rollout: RolloutSpec, nodes = 6): RolloutStory {
  const story = new RolloutStory(rollout, nodes);
  for (let round = 0; round < 40 && statusOf(story)?.phase !== 'Settled'; round += 1) {
    pass(story);
    approve(story);
  }
  assert.equal(statusOf(story)?.phase, 'Settled');
  story.commit(NEW);
  pass(story, 4);
  return story;
}

describe('a rollout with pauses', () => {
  it('waits after each of them for a person, and remembers who let it go on', () => {
    const story = begun(PAUSED);
    assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [1, 'canary']);
    assert.deepEqual(
      statusOf(story)?.holds?.map(({ reason, nodes }) => [reason, nodes]),
      [['approval', 5]],
    );
    approve(story);
    pass(story, 6);
    assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [3, 'step 1']);
    approve(story, 'grace');
    pass(story, 6);
    assert.deepEqual([told(story, NEW), statusOf(story)?.phase], [6, 'Settled']);
    assert.deepEqual(
      statusOf(story)?.rollout?.waves.map(({ name, approvedBy }) => [name, approvedBy]),
      [
        ['canary', 'ada'],
        ['step 1', 'grace'],
        ['rest', undefined],
      ],
    );
  });

  it('goes on though the approval is taken away again, and the reconciler starts anew', () => {
    const story = begun(PAUSED);
    approve(story);
    story.fleet.reconcile();
    story.fleet.annotatePool('workers', { [APPROVE_ANNOTATION]: undefined, [BY_ANNOTATION]: undefined });
    story.fleet.restart();
    pass(story, 6);
    assert.equal(told(story, NEW), 3);
  });

  it('begins with nobody before the approval is on record', () => {
    const story = begun(PAUSED);
    approve(story);
    story.fleet.reconcile();
    const approved = statusOf(story)?.rollout?.waves[0]?.approvedAt;
    assert.deepEqual([approved !== undefined, told(story, NEW)], [true, 1]);
    story.fleet.reconcile();
    assert.ok(told(story, NEW) > 1);
  });

  it('waits on where the reconciler starts anew', () => {
    const story = begun(PAUSED);
    const [before] = waiting(story);
    story.fleet.restart();
    pass(story, 6);
    assert.deepEqual([told(story, NEW), waiting(story)[0]], [1, before]);
  });

  it('takes no approval of another payload, of another wave, and of an earlier wait for the same', () => {
    const story = begun(PAUSED);
    const ofNew = approve(story);
    story.fleet.annotatePool('workers', { [APPROVE_ANNOTATION]: undefined });
    const replays = [ofNew?.replace(/^[0-9a-f]{64}/, 'f'.repeat(64)), ofNew?.replace('canary', 'step 1'), 'yes'];
    for (const value of replays) {
      story.fleet.annotatePool('workers', { [APPROVE_ANNOTATION]: value });
      pass(story, 2);
      assert.equal(told(story, NEW), 1, value);
    }
    story.commit(NEWER);
    pass(story, 4);
    story.fleet.annotatePool('workers', { [APPROVE_ANNOTATION]: ofNew });
    pass(story, 2);
    assert.equal(told(story, NEWER), 1, 'an approval of the payload before');
    story.commit(NEW);
    pass(story, 4);
    assert.ok(told(story, NEW) <= 1, 'an approval of the same payload, before it was committed again');
    approve(story);
    pass(story, 6);
    assert.equal(told(story, NEW), 3);
  });

  it('is over with another payload; one that the pool has proven waits for nobody', () => {
    const story = begun(PAUSED);
    story.commit(OLD);
    pass(story, 6);
    assert.deepEqual([told(story, OLD), waiting(story), statusOf(story)?.phase], [6, [], 'Settled']);
  });

  it('asks nobody while it is halted, and goes back without a person', () => {
    const story = begun({ ...PAUSED, onFailure: { threshold: 1, action: 'revert' } });
    approve(story);
    pass(story, 6);
    story.commit(DEADLY);
    pass(story, 6);
    assert.deepEqual([statusOf(story)?.phase, waiting(story), told(story, DEADLY)], ['Halted', [], 0]);
  });

  it('gives who joins meanwhile what the pool has proven', () => {
    const story = begun(PAUSED);
    story.happen({ event: 'join', node: 8 });
    pass(story, 4);
    assert.deepEqual([told(story, OLD), told(story, NEW)], [6, 1]);
  });

  it('goes on where pool.yaml asks for no pause any more', () => {
    const story = begun(PAUSED);
    Object.assign(story, { rollout: { ...PAUSED, canary: { nodes: 1 }, steps: [{ nodes: 3 }] } });
    story.commit(NEW);
    pass(story, 8);
    assert.deepEqual([told(story, NEW), waiting(story)], [6, []]);
  });

  it('calls nobody back who went past a wave before it had a pause', () => {
    const story = begun({ ...PAUSED, canary: { nodes: 1 } });
    assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [3, 'step 1']);
    Object.assign(story, { rollout: PAUSED });
    story.commit(NEW);
    pass(story, 2);
    assert.equal(waiting(story)[0]?.wave, 'step 1');
  });

  it('stays with the wave that it waits after where another commit moves its number', () => {
    const story = begun({ ...PAUSED, canary: { nodes: 1 }, steps: [{ nodes: 2 }, { nodes: 3, pause: true }] });
    assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [3, 'step 2']);
    const since = waiting(story)[0]?.since;
    Object.assign(story, { rollout: { ...PAUSED, canary: { nodes: 1 } } });
    story.commit(NEW);
    pass(story, 6);
    assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave, waiting(story)[0]?.since], [3, 'step 1', since]);
    approve(story);
    pass(story, 6);
    assert.deepEqual([told(story, NEW), statusOf(story)?.phase], [6, 'Settled']);
  });

  it('remembers who let it go on where later limits have fewer steps', () => {
    const story = begun({ ...PAUSED, canary: { nodes: 1 }, steps: [{ nodes: 2 }, { nodes: 3, pause: true }] });
    approve(story, 'grace');
    pass(story, 6);
    assert.equal(statusOf(story)?.phase, 'Settled');
    Object.assign(story, { rollout: { ...PAUSED, canary: { nodes: 1 } } });
    story.commit(NEW);
    pass(story, 2);
    const approvals = statusOf(story)?.rollout?.waves.map(({ name, approvedBy }) => [name, approvedBy]);
    assert.deepEqual(approvals?.[1], ['step 1', 'grace']);
  });

  it('takes an approval of a wave for no larger one that has its number now', () => {
    for (const steps of [[{ nodes: 4, pause: true }], [{ nodes: 4, pause: true }, { nodes: 5 }]]) {
      const story = begun({ ...PAUSED, canary: { nodes: 1 }, steps: [{ nodes: 2, pause: true }, { nodes: 3 }] });
      assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [2, 'step 1']);
      approve(story);
      story.fleet.reconcile();
      Object.assign(story, { rollout: { ...PAUSED, canary: { nodes: 1 }, steps } });
      story.commit(NEW);
      pass(story, 6);
      assert.deepEqual([told(story, NEW), waiting(story)[0]?.wave], [4, 'step 1']);
    }
  });

  it('waits at the pace of whole trials, too', () => {
    const story = begun({ ...PAUSED, probation: 'full' });
    assert.equal(told(story, NEW), 1);
    approve(story);
    pass(story, 6);
    assert.equal(told(story, NEW), 3);
  });

  it('asks nobody in a pool of one node', () => {
    const story = begun(PAUSED, 1);
    pass(story, 2);
    assert.deepEqual([told(story, NEW), waiting(story), statusOf(story)?.phase], [1, [], 'Settled']);
  });

  /** Ways to roll out, with pauses after any of their waves. */
  const withPauses = fc
    .tuple(rollouts, fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }))
    .map(([{ canary, steps, ...rest }, [first = false, ...others]]): RolloutSpec => ({
      ...rest,
      ...(canary && { canary: { ...canary, pause: first } }),
      ...(steps && { steps: steps.map((step, index) => ({ ...step, pause: others[index] === true })) }),
    }));

  it('never goes past one without an approval, and always to its end with one', () => {
    let [asked, ended] = [0, 0];
    fc.assert(
      fc.property(withPauses, fc.integer({ min: 2, max: 9 }), (rollout, nodes) => {
        const story = begun(rollout, nodes);
        for (let round = 0; round < 60 && statusOf(story)?.phase !== 'Settled'; round += 1) {
          const [wave] = waiting(story);
          if (wave !== undefined) {
            const before = told(story, NEW);
            pass(story, 3);
            assert.equal(told(story, NEW), before, `past ${wave.wave}`);
            asked += 1;
            approve(story);
          }
          pass(story);
        }
        assert.deepEqual([statusOf(story)?.phase, told(story, NEW)], ['Settled', nodes]);
        ended += 1;
      }),
      { numRuns: 60 },
    );
    assert.ok(asked > 20 && ended === 60, `${asked} approvals in ${ended} rollouts`);
  });
});
