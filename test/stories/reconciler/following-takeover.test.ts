import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFollowing } from '#reconciler/policy/following/record.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { AFTER, BEFORE, beginStory, LATER, NODES, settledOnce, type Story } from '../../support/takeover/story.ts';

const MINUTE = 60_000;
const follows = { clusters: ['staging'], settledFor: '2m' };

function inForce({ cluster }: Story): string | undefined {
  const source: KubeletSource | undefined = cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME);
  return source?.status?.commit;
}

async function pass(story: Story, ms: Millis): Promise<void> {
  const until = story.clock.now() + ms;
  while (story.clock.now() < until) await story.tick();
}

/** A machine whose clock is off. */
const off = (clock: Clock, by: Millis): Clock => ({ ...clock, now: () => clock.now() + by });

/** A cluster on a commit that follows staging, and one that staging has just settled. */
async function following(): Promise<{ readonly story: Story; readonly first: string; readonly next: string }> {
  const story = await beginStory(NODES, await settledOnce());
  const { repository } = story;
  repository.follows = follows;
  const first = repository.commit(...BEFORE);
  const begun = story.start('begins');
  // The commit before followed nobody.
  await story.until('in force', () => inForce(story) === first);
  const next = repository.commit(...AFTER);
  await pass(story, MINUTE);
  repository.others.set('staging', new Map([[next, 'settled']]));
  begun.replica.stop();
  await story.tick();
  await begun.replica.ended;
  return { story, first, next };
}

for (const hours of [0, 5, -5]) {
  it(`the time goes on over a takeover, with a clock ${hours} hours off, and no second is given away`, async () => {
    const { story, first, next } = await following();
    const one = story.start('one');
    await pass(story, MINUTE);
    one.mortality.die();
    story.start('two', { clock: off(story.clock, hours * 60 * MINUTE) });
    await pass(story, MINUTE / 2);
    assert.equal(inForce(story), first);
    const restMs = MINUTE;
    const begun = story.clock.now();
    await story.until('in force', () => inForce(story) === next);
    assert.ok(story.clock.now() - begun < restMs);
  });
}

it('a restart takes nothing up that its own file would not let in', async () => {
  const { story, first, next } = await following();
  // Whom it follows is lost with the record.
  story.cluster.objects.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { following: null, limits: null } });
  story.start('one');
  await pass(story, MINUTE);
  assert.equal(inForce(story), first);
  await story.until('in force', () => inForce(story) === next);
});

it('a restart while git is away forgets nothing', async () => {
  const { story, first, next } = await following();
  const { repository } = story;
  const one = story.start('one');
  await pass(story, MINUTE);
  one.mortality.die();
  repository.isAway = true;
  story.start('two');
  await pass(story, MINUTE / 2);
  repository.isAway = false;
  const begun = story.clock.now();
  await pass(story, MINUTE / 12);
  assert.equal(inForce(story), first);
  await story.until('in force', () => inForce(story) === next);
  assert.ok(story.clock.now() - begun < MINUTE);
});

it('a commit that follows nobody has to be settled itself, and the next one has not', async () => {
  const { story, first, next } = await following();
  const { repository } = story;
  repository.follows = null;
  const free = repository.commit(...LATER);
  story.start('one');
  await story.until('in force', () => inForce(story) === next);
  await pass(story, 3 * MINUTE);
  assert.notEqual(inForce(story), free);
  repository.others.get('staging')?.set(free, 'settled');
  await pass(story, MINUTE);
  assert.equal(inForce(story), next);
  await story.until('in force', () => inForce(story) === free);
  const last = repository.commit(...BEFORE);
  await story.until('in force', () => inForce(story) === last);
  assert.notEqual(first, last);
});

it('a staging that is gone holds everything up and is called silent; when it is back, the time begins anew', async () => {
  const { story, first, next } = await following();
  const { repository, cluster } = story;
  const silent = (): readonly string[] => {
    const source: KubeletSource | undefined = cluster.objects.get(KUBELET_SOURCES, SOURCE_NAME);
    return (readFollowing(source?.status?.following ?? '')?.silent ?? []).map((each) => each.cluster);
  };
  story.start('one');
  await pass(story, MINUTE);
  assert.deepEqual(silent(), []);
  repository.others.delete('staging');
  await pass(story, 3 * MINUTE);
  assert.deepEqual([inForce(story), silent()], [first, ['staging']]);
  repository.others.set('staging', new Map([[next, 'settled']]));
  await pass(story, 1.9 * MINUTE);
  assert.deepEqual([inForce(story), silent()], [first, []]);
  await story.until('in force', () => inForce(story) === next);
});
