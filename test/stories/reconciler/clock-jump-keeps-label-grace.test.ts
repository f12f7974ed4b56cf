import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { LABEL_GRACE_MS } from '#reconciler/policy/rollout/label-grace.ts';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { validPool } from '../../support/fleet.ts';
import type { Replica } from '../../support/takeover/replica.ts';
import { beginStory, type Story } from '../../support/takeover/story.ts';

const STEP = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MEMBERS = { 'w-1': 'workers', 'w-2': 'workers', 'w-3': 'workers' };
const SPEC = {
  rollout: { maxUnavailable: 3, probation: 'full', soak: '0s', onFailure: { threshold: 1, action: 'halt' as const } },
};

/** The clock of one machine, which somebody may set. */
type Settable = Clock & { set(by: number): void };

function settable(world: Clock): Settable {
  let off = 0;
  return { ...world, now: () => world.now() + off, set: (by) => void (off += by) };
}

const configOf = (story: Story): string | undefined =>
  (story.cluster.objects.get(KUBELET_NODES, 'w-3') as KubeletNode | undefined)?.spec?.configSource?.name;

/** How long a node whose labels are lost keeps its config, where something happens after three minutes of that. */
async function graceOf(happens: (story: Story, clock: Settable, one: Replica) => Promise<Replica>) {
  const story = await beginStory(MEMBERS);
  story.repository.commit(validPool('workers', 100, SPEC));
  const clock = settable(story.clock);
  let { replica } = story.start('one', { clock });
  for (let ticks = 0; ticks < 80; ticks += 1) await story.tick();
  const config = configOf(story);
  assert.notEqual(config, undefined);
  const since = story.clock.now();
  story.cluster.objects.patch(NODES, 'w-3', { metadata: { labels: { pool: null } } });
  let happened = false;
  while (configOf(story) === config && story.clock.now() - since < HOUR) {
    await story.clock.advance(STEP);
    if (!happened && story.clock.now() - since >= 3 * MINUTE) {
      happened = true;
      replica = await happens(story, clock, replica);
    }
  }
  const kept = story.clock.now() - since;
  replica.stop();
  await story.tick();
  return kept;
}

describe('a node whose labels were lost a moment ago', () => {
  for (const by of [HOUR, -HOUR]) {
    it(`keeps its config for the whole grace period where the reconciler’s clock is set by ${by / HOUR} hours`, async () => {
      const kept = await graceOf((_, clock, one) => {
        clock.set(by);
        return Promise.resolve(one);
      });
      assert.ok(kept >= LABEL_GRACE_MS && kept <= LABEL_GRACE_MS + 2 * MINUTE, `${kept / MINUTE} minutes`);
    });

    it(`does so where another reconciler takes over whose clock is ${by / HOUR} hours off`, async () => {
      const kept = await graceOf(async (story, _, one) => {
        one.stop();
        await story.tick();
        const clock = settable(story.clock);
        clock.set(by);
        const { replica } = story.start('two', { clock });
        await story.until('it leads', () => replica.isLeader());
        return replica;
      });
      assert.ok(kept >= LABEL_GRACE_MS && kept <= LABEL_GRACE_MS + 2 * MINUTE, `${kept / MINUTE} minutes`);
    });
  }
});
