import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { KINDS } from '../../support/proof/machine-pools.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { forgeries, settings, type Forged, type Setting } from '../../support/proof/world-events.ts';
import { holds, replayFrom } from '../../support/replayable.ts';
import { runsOf } from '../../support/sample.ts';

const STEPS = runsOf(50_000, 50);
const LENGTH = 150;
const replay = replayFrom(process.env, 30_30_31);

/** All settled; the pool asks for a canary that soaks for two hours. */
const settingOf = (isComputed: boolean): Setting => ({
  pools: [
    {
      isComputed,
      rollout: {
        maxUnavailable: '100%',
        soak: '0s',
        canary: { nodes: 1, soak: '1h' },
        onFailure: { threshold: 1, action: 'revert' },
      },
    },
  ],
  nodes: Array.from({ length: 12 }, (_, index) => ({ pool: 0, kind: KINDS[index % 4] ?? 0 })),
  victim: 1,
  settled: true,
});

/** Which version somebody says is proven: the present one, or one that kills kubelets and nobody ever ran. */
const OF: readonly (readonly [string, number | null])[] = [
  ['the present version', null],
  ['another version', 5],
];

describe('a status of a pool that somebody else writes', () => {
  for (const isComputed of [false, true]) {
    for (const [of, table] of OF) {
      for (const what of ['settled', 'rollout', 'proof', 'all'] as const satisfies Forged[]) {
        const where = isComputed ? 'with classes of machines' : 'without classes';
        it(`gives no node what nobody has proven: ${what} of ${of}, in a pool ${where}`, () => {
          for (const takeover of [false, true]) {
            const world = new MovingWorld(settingOf(isComputed));
            world.happen({ event: 'commit', pool: 0, table: 3 });
            for (let round = 0; round < 5; round += 1) world.happen({ event: 'time', minutes: 2, who: 'all' });
            world.happen({ event: 'forge', pool: 0, table, what });
            if (takeover) world.happen({ event: 'takeover', hours: 0 });
            for (const kind of KINDS) world.happen({ event: 'join', pool: 0, kind });
            for (let round = 0; round < 12; round += 1) world.happen({ event: 'time', minutes: 2, who: 'all' });
          }
        });
      }
    }
  }

  it(`gives no node anything in ${STEPS} steps of moving worlds`, () => {
    holds(
      'a forged record gives no node anything',
      fc.property(settings, fc.array(forgeries, { minLength: LENGTH, maxLength: LENGTH }), (setting, story) => {
        const world = new MovingWorld(setting);
        for (const event of story) world.happen(event);
      }),
      Math.ceil(STEPS / LENGTH),
      replay,
    );
  });
});
