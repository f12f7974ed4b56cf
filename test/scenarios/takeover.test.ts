import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { ValidPool } from '#reconciler/repo/loaded.ts';
import { type Death, isWrite } from '../support/takeover/mortality.ts';
import {
  AFTER,
  assignments,
  BEFORE,
  beginStory,
  type Chapter,
  isSettledOn,
  LATER,
  NODES,
  settledOnce,
  type Story,
  unfinished,
  wantedConfigs,
} from '../support/takeover/story.ts';

const BUDGETS: Readonly<Record<string, number>> = { workers: 2, gpu: 1, old: 1, new: 1 };

interface Plot {
  readonly from?: Chapter;
  /** The commits in order; each comes when the one before has begun to show on a node. */
  readonly commits: readonly (readonly ValidPool[])[];
}

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
  const deaths = awaits.flatMap((what, index): readonly Death[] => {
    const at = index + 1;
    return isWrite(what)
      ? [
          { at, when: 'before' },
          { at, when: 'after' },
        ]
      : [{ at, when: 'before' }];
  });
  for (const death of deaths) await play(plot, death);
  return `killed at each of ${deaths.length} points: ${awaits.length} awaits, ${deaths.length - awaits.length} of them writes whose answer is lost`;
}

/** @returns what the first reconciler awaited until all was done */
async function play({ from, commits }: Plot, death: Death | null): Promise<readonly string[]> {
  const story = await beginStory(NODES, from);
  const { mortality } = story.start('a', { death });
  let commit = '';
  let wanted: readonly ValidPool[] = [];
  let successor = false;
  const look = (): void => {
    for (const [pool, count] of unfinished(story))
      assert.ok(count <= (BUDGETS[pool] ?? 0), `${pool}: ${count} at once`);
    if (!mortality.dead() || successor) return;
    successor = true;
    story.start('b');
  };
  const at = (): string => `${death?.when ?? 'no'} death at await ${death?.at}: ${mortality.awaits.at(-1)}`;
  for (const pools of commits) {
    commit = story.repository.commit(...pools);
    wanted = pools;
    const shows = (): boolean => (look(), story.cluster.restarts.size > 0);
    if (pools !== commits.at(-1)) await story.until(`a first node, ${at()}`, shows);
  }
  await story.until(`settled, ${at()}`, () => (look(), isSettledOn(story, commit, wanted)));
  assert.equal(mortality.dead(), death !== null, `it died in time, ${at()}`);
  const awaits = [...mortality.awaits];
  // Let it be for a while: whatever it would do twice it does now.
  for (let ticks = 0; ticks < 8; ticks += 1) await story.tick();
  verify(story, wanted, commits.length, at());
  return awaits;
}

function verify({ cluster, repository }: Story, pools: readonly ValidPool[], commits: number, at: string): void {
  for (const [what, all] of [
    ['told', assignments(cluster.written)],
    ['restarted', cluster.restarts],
  ] as const) {
    for (const [node, config] of wantedConfigs(pools)) {
      const configs = all.get(node) ?? [];
      if ((cluster.began.get(node) ?? LOCAL) !== config)
        assert.equal(configs.at(-1), config, `${node} is ${what}, ${at}`);
      assert.equal(new Set(configs).size, configs.length, `${node} is ${what} once: ${configs.join(', ')}; ${at}`);
      assert.ok(configs.length <= commits, `${node} is ${what} once a commit, ${at}`);
    }
  }
  const made = cluster.written
    .filter(({ verb }) => verb !== 'patch')
    .map(({ verb, name, resource }) => `${verb} ${resource.plural} ${name}`);
  assert.equal(new Set(made).size, made.length, `nothing is made or deleted twice, ${at}: ${made.join(', ')}`);
  const texts = repository.pushes.map(({ commit, text }) => `${commit} ${text}`);
  assert.equal(new Set(texts).size, texts.length, `no note is written twice, ${at}`);
  for (const [commit, text] of repository.notes) {
    assert.match(text, /^demo: (settled|superseded)/, `the note on ${commit} tells how it ended, ${at}`);
  }
}
