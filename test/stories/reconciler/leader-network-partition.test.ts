import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { LEASE_TIMING } from '#reconciler/cluster/leader/lease-times.ts';
import { NODES as NODE_OBJECTS } from '#shared/kube/kube.ts';
import { machineClock } from '../../reconciler/cluster/leader/support/lease-store.ts';
import { network, type NetworkFaults } from '../../support/takeover/network.ts';
import {
  AFTER,
  beginStory,
  isSettledOn,
  NODES,
  type Process,
  settledOnce,
  type Story,
} from '../../support/takeover/story.ts';
import { verifyBudgets, verifyOnce, verifyTurns } from '../../support/takeover/verify.ts';

const WELL: NetworkFaults = { thereMs: 20, backMs: 20 };

/** A machine's clock: how fast it runs, and what it calls now. */
interface Machine {
  readonly rate: number;
  readonly wallSkewMs: number;
}

/** A replica whose pod begins again, as another process, whenever it gave up. */
interface Pod {
  readonly leads: () => boolean;
  /** From now on. */
  befall(weather: NetworkFaults): void;
}

function run(story: Story, name: string, { rate, wallSkewMs }: Machine = { rate: 1, wallSkewMs: 0 }): Pod {
  let weather = WELL;
  let starts = 0;
  const begin = (): Process =>
    story.start(`${name}-${(starts += 1)}`, {
      clock: machineClock(story.clock, rate, wallSkewMs),
      network: (kube) => network(kube, story.clock, () => weather),
      timing: LEASE_TIMING,
    });
  let process = begin();
  story.onTick(() => {
    if (process.replica.over()) process = begin();
  });
  return { leads: () => process.replica.isLeader(), befall: (next) => (weather = next) };
}

async function twoReplicas(): Promise<{ readonly story: Story; readonly a: Pod; readonly b: Pod }> {
  const story = await beginStory(NODES, await settledOnce());
  story.onTick(() => verifyBudgets(story));
  const a = run(story, 'a');
  await story.until('a leads', a.leads);
  return { story, a, b: run(story, 'b') };
}

describe('two live reconcilers', () => {
  it('the one that leads is cut off in the middle of a rollout: it stops before the other one starts', async () => {
    const { story, a, b } = await twoReplicas();
    const commit = story.repository.commit(...AFTER);
    await story.until('a began', () => story.cluster.restarts.size > 0);
    a.befall({ ...WELL, lost: 'request' });
    await story.until('b leads', b.leads);
    assert.equal(a.leads(), false);
    await story.until('settled', () => isSettledOn(story, commit, AFTER));
    a.befall(WELL);
    for (let ticks = 0; ticks < 40; ticks += 1) await story.tick();
    verifyTurns(story);
    verifyOnce(story, AFTER);
  });

  it('the one that takes over sees assignments late: it looks for itself before it decides', async () => {
    const { story, a, b } = await twoReplicas();
    await story.tick();
    b.befall({ ...WELL, lagMs: { kubeletnodes: 120_000, kubeletpools: 120_000 } });
    story.asleep.add('g-1').add('g-2');
    story.repository.commit(...AFTER);
    await story.until('a began', () => story.cluster.written.some(({ name }) => name === 'g-1'));
    a.befall({ ...WELL, lost: 'request' });
    // It comes before g-1, which b does not know to be in the middle of its change.
    story.cluster.objects.patch(NODE_OBJECTS, 'a-1', { metadata: { labels: { pool: 'gpu' } } });
    await story.until('b leads', b.leads);
    for (let ticks = 0; ticks < 40; ticks += 1) await story.tick();
    verifyTurns(story);
  });

  it('never write in turns, never change more nodes than allowed, and finish, whatever befalls their network and clocks', async (t) => {
    const chapter = await settledOnce();
    let turns = 0;
    await fc.assert(
      fc.asyncProperty(machine, machine, fc.nat(20), async (one, other, commitAfter) => {
        const story = await beginStory(NODES, chapter);
        story.onTick(() => verifyBudgets(story));
        const pods = [run(story, 'a', one), run(story, 'b', other)];
        const began = story.clock.monotonic();
        let commit = '';
        for (let ticks = 0; ticks < 480; ticks += 1) {
          if (ticks === commitAfter) commit = story.repository.commit(...AFTER);
          const now = story.clock.monotonic() - began;
          for (const [index, { weather }] of [one, other].entries()) pods[index]?.befall(weatherAt(weather, now));
          await story.tick();
        }
        for (const pod of pods) pod.befall(WELL);
        await story.until('settled', () => isSettledOn(story, commit, AFTER));
        verifyTurns(story);
        verifyOnce(story, AFTER);
        turns += new Set(story.cluster.written.map(({ by }) => by)).size;
      }),
      { numRuns: 15, examples: FOUND },
    );
    t.diagnostic(`${turns} processes wrote in 15 stories`);
  });
});

/** One way takes less than the five seconds between the end of a lead and the beginning of the next. */
const WEATHERS = {
  well: WELL,
  slow: { thereMs: 1_500, backMs: 1_500 },
  late: { thereMs: 4_000, backMs: 20 },
  deaf: { ...WELL, lost: 'answer' },
  cut: { ...WELL, lost: 'request' },
  behind: { ...WELL, lagMs: { nodes: 5_000, kubeletnodes: 45_000, kubeletpools: 30_000, configmaps: 30_000 } },
} as const satisfies Readonly<Record<string, NetworkFaults>>;

interface Spell {
  readonly forMs: number;
  readonly kind: keyof typeof WEATHERS;
}

const spellOf = (kind: Spell['kind'], forMs: number): Spell => ({ kind, forMs });

const spell = fc.record<Spell>({
  forMs: fc.integer({ min: 4_000, max: 40_000 }),
  kind: fc.constantFrom('well', 'well', 'slow', 'late', 'deaf', 'cut', 'behind'),
});

/** Stories that something went wrong in: a pool's own status that its watch showed late was written once more, with another hour. */
const FOUND: [Machine & { weather: Spell[] }, Machine & { weather: Spell[] }, number][] = [
  [
    {
      rate: 0.9,
      wallSkewMs: -752,
      weather: [spellOf('well', 4_251), spellOf('behind', 4_000), spellOf('well', 4_000)],
    },
    { rate: 0.9, wallSkewMs: 0, weather: [spellOf('well', 8_000)] },
    1,
  ],
];

const machine = fc.record({
  rate: fc.constantFrom(0.9, 1, 1.1),
  wallSkewMs: fc.integer({ min: -120_000, max: 120_000 }),
  weather: fc.array(spell, { minLength: 2, maxLength: 6 }),
});

function weatherAt(spells: readonly Spell[], ms: number): NetworkFaults {
  let untilMs = 0;
  for (const { forMs, kind } of spells) {
    untilMs += forMs;
    if (ms < untilMs) return WEATHERS[kind];
  }
  return WELL;
}
