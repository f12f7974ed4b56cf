import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commit, COMMIT_A, COMMIT_B } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { shaFor, sizedNode, sizedPool, toldTo } from '../../support/rollout/sized-pool.ts';
import { fc } from '../../support/property.ts';
import { KINDS } from '../../support/proof/machine-pools.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { type Forged, forgeries, happenings, settings, type Setting } from '../../support/proof/world-events.ts';
import { holds, replayFrom } from '../../support/replayable.ts';
import { runsOf } from '../../support/sample.ts';

const STEPS = runsOf(50_000, 50);
const LENGTH = 150;
const replay = replayFrom(process.env, 30_30_31);

/** All settled; the pool asks for a canary that soaks for two hours. */
const settingOf = (isComputed: boolean, action: 'halt' | 'revert' = 'revert'): Setting => ({
  pools: [
    {
      isComputed,
      rollout: {
        maxUnavailable: '100%',
        soak: '0s',
        canary: { nodes: 1, soak: '1h' },
        onFailure: { threshold: 1, action },
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
          for (const leader of ['stays', 'changes later', 'finds it'] as const) {
            const world = new MovingWorld(settingOf(isComputed));
            world.happen({ event: 'commit', pool: 0, table: 3 });
            for (let round = 0; round < 5; round += 1) world.happen({ event: 'time', minutes: 2, who: 'all' });
            world.happen({ event: 'forge', pool: 0, table, what, found: leader === 'finds it' });
            if (leader === 'changes later') world.happen({ event: 'takeover', hours: 0 });
            for (const kind of KINDS) world.happen({ event: 'join', pool: 0, kind });
            for (let round = 0; round < 12; round += 1) world.happen({ event: 'time', minutes: 2, who: 'all' });
          }
        });
      }
    }
  }

  for (const action of ['halt', 'revert'] as const) {
    it(`is the word of no leader that finds it in a pool that is halted: ${action}`, () => {
      for (const [, table] of [...OF, ['an earlier version', 1] as const]) {
        const world = new MovingWorld(settingOf(true, action));
        world.happen({ event: 'commit', pool: 0, table: 5 });
        for (let round = 0; round < 8; round += 1) world.happen({ event: 'time', minutes: 4, who: 'all' });
        assert.equal(world.sim.fleet.pools.get('blue')?.status?.phase, 'Halted');
        for (const what of ['rollout', 'settled', 'all'] as const) {
          world.happen({ event: 'forge', pool: 0, table, what, found: true });
          for (let round = 0; round < 4; round += 1) world.happen({ event: 'time', minutes: 4, who: 'all' });
        }
      }
    });
  }

  it(`gives no node anything in ${STEPS} steps of moving worlds`, () => {
    holds(
      'a forged record gives no node anything',
      fc.property(settings, fc.array(forgeries, { maxLength: 2 * LENGTH, size: 'max' }), (setting, story) => {
        const world = new MovingWorld(setting);
        for (const event of story) world.happen(event);
      }),
      Math.ceil(STEPS / LENGTH),
      replay,
    );
  });
});

/** Machines of so many types, each with its own bytes, so many of each; the last type dies of the second version. */
function revertOver(types: number, ofEach: number) {
  const rollout = '{maxUnavailable: 100%, onFailure: {threshold: 1, action: revert}}';
  const [before, next] = ['0.1', '0.2'].map((share) =>
    sizedPool(`computed: {systemReserved: {cpu: 'cpu * ${share}'}}\n`, rollout),
  );
  assert.ok(before !== undefined && next !== undefined);
  const fleet = new FleetSimulation();
  const nodes = Array.from({ length: types * ofEach }, (_, index) => {
    const cpu = 2 + Math.floor(index / ofEach);
    return sizedNode(`n${index}`, cpu, 64);
  });
  for (const node of nodes) fleet.addNode(node);
  const minutes = (count: number): void => {
    for (let minute = 0; minute < count; minute += 1) {
      fleet.reconcile();
      fleet.agentsStep();
      fleet.now += 60_000;
    }
  };
  fleet.inForce = commit(COMMIT_A, before);
  minutes(30);
  assert.equal(fleet.fleet.pools.get('x')?.status?.phase, 'Settled');
  const [last] = nodes.slice(-1);
  assert.ok(last !== undefined);
  fleet.deadly.add(shaFor(next, last));
  fleet.inForce = commit(COMMIT_B, next);
  minutes(60);
  const { phase, message = '' } = fleet.fleet.pools.get('x')?.status ?? {};
  assert.equal(phase, 'Halted');
  const stay = nodes.filter((node) => toldTo(fleet, node.name) === shaFor(next, node)).length;
  return { stay, message, tried: nodes.filter((node) => fleet.exposed.get(shaFor(next, node))?.has(node.name)).length };
}

describe('a revert over many classes of machines', () => {
  it('takes all of them back: 120 classes of two machines', () => {
    const { stay, message, tried } = revertOver(120, 2);
    assert.ok(tried > 100, `${tried} tried it`);
    assert.equal(stay, 0, message);
  });

  it('takes all of them back: 20 machines, each of its own class', () => {
    const { stay, message, tried } = revertOver(20, 1);
    assert.ok(tried > 15, `${tried} tried it`);
    assert.equal(stay, 0, message);
  });

  it('takes every machine back whose class proved something before, in moving worlds', () => {
    holds(
      'a revert takes back whose class proved something before',
      fc.property(settings, fc.array(happenings, { maxLength: 50, size: 'max' }), (setting, story) => {
        const pools = setting.pools.map(({ rollout }) => ({
          isComputed: true,
          rollout: { ...rollout, onFailure: { ...rollout.onFailure, action: 'revert' as const } },
        }));
        const world = new MovingWorld({ ...setting, pools, settled: true });
        for (const pool of pools.keys()) world.happen({ event: 'commit', pool, table: 4 });
        for (const event of story) if (event.event !== 'forget' && event.event !== 'lose') world.happen(event);
        world.checkRevert('all');
      }),
      runsOf(500, 10),
      replay,
    );
  });
});

describe('a pool whose record is lost', () => {
  it('gives no class of machines what another one had', () => {
    const rollout = {
      maxUnavailable: '100%',
      probation: 'full',
      soak: '1h',
      steps: [{ nodes: 4, soak: '1h' }],
      onFailure: { threshold: 2, action: 'revert' as const },
    };
    const kinds = [2, 2, 0, 2, 0] as const;
    const nodes = kinds.map((kind) => ({ pool: 0, kind }));
    const world = new MovingWorld({ pools: [{ isComputed: true, rollout }], nodes, victim: null, settled: true });
    world.happen({ event: 'commit', pool: 0, table: 1 });
    for (let round = 0; round < 3; round += 1) world.happen({ event: 'time', minutes: 4, who: 'all' });
    world.happen({ event: 'forget', pool: 0 });
    world.happen({ event: 'join', pool: 0, kind: 3 });
    for (let round = 0; round < 3; round += 1) world.happen({ event: 'time', minutes: 1, who: 'all' });
  });
});

describe('a pool that never settled on anything', () => {
  it('says that nodes are back when they are', () => {
    const rollout = {
      maxUnavailable: '100%',
      soak: '0s',
      canary: { nodes: 2, soak: '1h' },
      onFailure: { threshold: 1, action: 'revert' as const },
    };
    const nodes = [0, 0, 0].map(() => ({ pool: 0, kind: 0 as const }));
    const world = new MovingWorld(
      { pools: [{ isComputed: false, rollout }], nodes, victim: 1, settled: false },
      { isStrict: true },
    );
    const minutes = (count: number, who: 'all' | 'some' | 'none' = 'all'): void => {
      for (let minute = 0; minute < count; minute += 1) world.happen({ event: 'time', minutes: 1, who });
    };
    minutes(6);
    world.happen({ event: 'commit', pool: 0, table: 5 });
    minutes(1);
    // Every other agent goes on: one node takes it back while the other is on trial.
    minutes(3, 'some');
    minutes(1, 'none');
  });
});
