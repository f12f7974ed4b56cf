import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { sampleOf } from '../../support/sample.ts';
import { type Kill, isWrite } from '../../support/takeover/kill-injection.ts';
import {
  AFTER,
  BEFORE,
  beginStory,
  type Chapter,
  isSettledOn,
  LATER,
  NODES,
  settledOnce,
} from '../../support/takeover/story.ts';
import { verifyBudgets, verifyOnce } from '../../support/takeover/verify.ts';

interface Plot {
  readonly from?: Chapter;
  /** The commits in order; each comes when the one before has begun to show on a node. */
  readonly commits: readonly (readonly ValidPool[])[];
}

/** A round of the reconciler's requests is not a multiple of it, so that a sample meets all of them. */
const ONE_DEATH_IN = 13;

describe('a reconciler that is killed at any await is taken over by another one, which repeats nothing and skips nothing', () => {
  it('the first commit of an empty cluster', async (t) => {
    t.diagnostic(await everywhere({ commits: [BEFORE] }));
  });

  it('a commit that changes two pools, takes one away and brings one', async (t) => {
    t.diagnostic(await everywhere({ from: await settledOnce(), commits: [AFTER] }));
  });

  it('a commit that overtakes another one in the middle of its rollout', async (t) => {
    t.diagnostic(await everywhere({ from: await settledOnce(), commits: [AFTER, LATER] }));
  });
});

async function everywhere(plot: Plot): Promise<string> {
  const awaits = await play(plot, null);
  const all = awaits.flatMap((what, index): readonly Kill[] => {
    const at = index + 1;
    return isWrite(what)
      ? [
          { at, when: 'before' },
          { at, when: 'after' },
        ]
      : [{ at, when: 'before' }];
  });
  const deaths = sampleOf(all, ONE_DEATH_IN);
  for (const death of deaths) await play(plot, death);
  const lost = all.length - awaits.length;
  return `killed at ${deaths.length} of ${all.length} points: before ${awaits.length} awaits, and after ${lost} writes among them`;
}

/** @returns what the first reconciler awaited until all was done */
async function play({ from, commits }: Plot, death: Kill | null): Promise<readonly string[]> {
  const story = await beginStory(NODES, from);
  const { mortality } = story.start('a', { death });
  const at = (): string => `; ${death?.when ?? 'no'} death at await ${death?.at}, ${mortality.awaits.at(-1)}`;
  let successor = false;
  story.onTick(() => {
    verifyBudgets(story, at());
    if (!mortality.dead() || successor) return;
    successor = true;
    story.start('b');
  });
  let commit = '';
  for (const pools of commits) {
    commit = story.repository.commit(...pools);
    if (pools !== commits.at(-1)) await story.until(`a first node${at()}`, () => story.cluster.restarts.size > 0);
  }
  const wanted = commits.at(-1) ?? [];
  await story.until(`settled${at()}`, () => isSettledOn(story, commit, wanted));
  assert.equal(mortality.dead(), death !== null, `it died in time${at()}`);
  const awaits = [...mortality.awaits];
  // Let it be for a while: whatever it would do twice it does now.
  for (let ticks = 0; ticks < 8; ticks += 1) await story.tick();
  verifyOnce(story, wanted, at());
  return awaits;
}
