import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Plan, plan } from '#reconciler/policy/plan.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { checkSettles, holdLiveness, type Setting } from '../../support/liveness/liveness-laws.ts';
import { HOUR, type LivingPool, LivingWorld, MINUTE } from '../../support/liveness/living-world.ts';
import { replayFrom } from '../../support/replayable.ts';
import { runsOf } from '../../support/sample.ts';

const replay = replayFrom(process.env, 31_31_31);
const ROLLOUT: RolloutSpec = {
  maxUnavailable: 1,
  probation: '1m',
  soak: '0s',
  onFailure: { threshold: 3, action: 'halt' },
};
const CANARY = { nodes: 1, soak: '2h' };
const IN_A_DAY = { nodes: 24, lifetimeMs: 24 * HOUR, rollout: { canary: CANARY } };
const BESIDE_GUESTS = { nodes: 12, joinsEveryMs: 5 * MINUTE, rollout: { probation: 'full' } };

/** How long it takes without what is the matter until every node that can has the new config, and with it; null for more than `most` times that. */
function times(
  { rollout, ...more }: Omit<LivingPool, 'name' | 'spec'> & { readonly rollout: Partial<RolloutSpec> },
  most: number,
  planner = plan,
): readonly [calm: number, took: number | null] {
  const pool = { ...more, name: 'blue', spec: { rollout: { ...ROLLOUT, ...rollout } } };
  const { troubles: _, lifetimeMs: __, joinsEveryMs: ___, ...undisturbed } = pool;
  const calm = new LivingWorld([undisturbed]).settlesWithin(24 * HOUR) ?? NaN;
  const world = new LivingWorld([pool]);
  world.sim.planner = planner;
  return [calm, world.settlesWithin(most * calm)];
}

const AT_ONE = { nodes: 8, maxUnavailable: 1, probation: '1m', canarySoak: null, drainTimeout: 30, troubles: [] };
/** Two that cannot be drained are the first in turn. */
const IN_VAIN: Setting = {
  pools: [
    {
      ...AT_ONE,
      troubles: [
        [0, 'drains'],
        [1, 'drains'],
      ],
    },
    { ...AT_ONE, nodes: 5, drainTimeout: null },
  ],
  overall: 1,
};
const DYING: Setting = {
  pools: [{ ...AT_ONE, maxUnavailable: 2, drainTimeout: null, canarySoak: 0, troubles: [[0, 'dies']] }],
  overall: null,
};
const BAD: Setting = {
  pools: [{ ...AT_ONE, nodes: 150, maxUnavailable: 10, drainTimeout: null, troubles: [[0, 'bad']] }],
  overall: null,
};
/** All but one of the first pool cannot be drained. */
const SHARED: Setting = {
  pools: [
    {
      ...AT_ONE,
      nodes: 5,
      troubles: [
        [0, 'drains'],
        [1, 'drains'],
        [2, 'drains'],
        [3, 'drains'],
      ],
    },
    { ...AT_ONE, nodes: 5, drainTimeout: null },
  ],
  overall: 1,
};

/** What a planner without the law decides from: the nodes, or what the pool remembers, as it would see them. */
const FAULTS: readonly (readonly [string, Setting, typeof plan])[] = [
  [
    'forgets that a node was drained in vain as soon as its pause is over',
    IN_VAIN,
    seeing((node, now) => {
      const { drainFailed, ...rest } = node;
      return drainFailed !== undefined && now - drainFailed.at >= 30 * MINUTE ? rest : node;
    }),
  ],
  [
    'takes a dead canary for one that comes back',
    DYING,
    (desired, fleet, settings, now, signals) => plan(desired, alive(fleet, now), settings, now, signals),
  ],
  [
    'has nobody but one node try it after a failure',
    BAD,
    (desired, fleet, settings, now, signals) => {
      const records = new Map(
        [...(signals?.records ?? [])].map(([name, { uid, status }]) => {
          const { rollout } = status;
          const reduced = { failed: 9, maxOnTrial: 1, begun: 1e6 };
          return [name, { uid, status: { ...status, ...(rollout && { rollout: { ...rollout, reduced } }) } }] as const;
        }),
      );
      return plan(desired, fleet, settings, now, signals && { ...signals, records });
    },
  ],
];

/** A commit each minute, for two hours. */
function stormy(planner = plan): LivingWorld {
  const world = new LivingWorld([{ name: 'blue', nodes: 3, spec: { rollout: ROLLOUT } }]);
  world.sim.planner = planner;
  for (let minute = 0; minute < 120; minute += 1) {
    world.commit('blue');
    for (let step = 0; step < 3; step += 1) world.step();
  }
  return world;
}

function seeing(how: (node: NodeView, now: number) => NodeView): typeof plan {
  return (desired, fleet, settings, now, signals): Plan => {
    const nodes = new Map([...fleet.nodes].map(([name, node]) => [name, how(node, now)]));
    return plan(desired, { ...fleet, nodes }, settings, now, signals);
  };
}

const alive = (fleet: Fleet, now: number): Fleet => ({
  ...fleet,
  nodes: new Map([...fleet.nodes].map(([name, node]) => [name, node.ready ? node : { ...node, readySince: now }])),
  kubeletNodes: new Map(
    [...fleet.kubeletNodes].map(([name, node]) => [
      name,
      { ...node, status: { ...node.status, heartbeat: toTimestamp(now) } },
    ]),
  ),
});

describe('every pool', () => {
  it('finishes within its bound, whatever some of its nodes do', (t) => {
    holdLiveness(t, runsOf(200_000, 100), replay);
  });

  for (const [name, setting] of [
    ['two nodes cannot be drained and another pool shares the place', IN_VAIN],
    ['most nodes of one cannot be drained, and another shares the place', SHARED],
    ['its canary dies', DYING],
    ['one machine takes it back', BAD],
  ] as const) {
    it(`finishes where ${name}`, () => void checkSettles(setting));
  }

  for (const [name, setting, planner] of FAULTS) {
    it(`does not, by a planner that ${name}`, () => assert.throws(() => checkSettles(setting, planner), /not within/));
  }

  for (const [name, most, pool] of [
    ['its nodes live for a day', 1.5, IN_A_DAY],
    [
      'they live for a week',
      1.5,
      { nodes: 100, lifetimeMs: 168 * HOUR, rollout: { canary: CANARY, maxUnavailable: '8%' } },
    ],
    [
      'one machine of two hundred takes it back',
      2,
      { nodes: 200, troubles: { 7: 'bad' }, rollout: { maxUnavailable: '5%' } },
    ],
    ['a node joins every five minutes and lives for an hour', 1.3, BESIDE_GUESTS],
  ] as const) {
    it(`takes at most ${most} times as long where ${name}`, (t) => {
      const [calm, took] = times(pool, most);
      t.diagnostic(`${calm / MINUTE} min without, ${(took ?? NaN) / MINUTE} with`);
      assert.ok(took !== null);
    });
  }

  it('is stopped by machines that die of a config one after the other, though each is replaced by another', () => {
    const troubles = Object.fromEntries(Array.from({ length: 12 }, (_, number) => [number, 'vanishes' as const]));
    const pool = { name: 'blue', nodes: 12, troubles, spec: { rollout: { ...ROLLOUT, canary: CANARY } } };
    const removedIn = (planner = plan): readonly [removed: number, status: KubeletPoolStatus | undefined] => {
      const world = new LivingWorld([pool]);
      world.sim.planner = planner;
      for (let minute = 0; minute < 240; minute += 1) {
        if (minute % 45 === 44) world.sim.restart();
        for (let step = 0; step < 3; step += 1) world.step();
      }
      return [world.removed, world.sim.fleet.pools.get('blue')?.status];
    };
    const [removed, status] = removedIn();
    assert.deepEqual([removed, status?.phase], [2, 'Halted']);
    assert.match(
      status?.message ?? '',
      /^2 machines went down with blue-\w+ before any had proven it, and were removed: n0/,
    );
    const forgets: typeof plan = (desired, fleet, settings, now, signals) => {
      const { lost: _, ...rest } = fleet;
      return plan(desired, rest, settings, now, signals);
    };
    assert.ok(removedIn(forgets)[0] > 10, 'by a planner that forgets them');
  });

  for (const [name, most, pool, how] of [
    // Among nodes that are all new, the oldest comes first.
    ['whose canary is the oldest node', 1.5, IN_A_DAY, (node, now) => ({ ...node, firstSeen: now })],
    [
      'that lets those that join take the places of those that serve',
      1.3,
      BESIDE_GUESTS,
      (node) => ({ ...node, createdAt: 0, firstSeen: 0 }),
    ],
  ] as const satisfies (readonly [string, number, object, Parameters<typeof seeing>[0]])[]) {
    it(`takes longer by a planner ${name}`, () => {
      const [calm, took] = times(pool, most, seeing(how));
      assert.ok(calm > 0);
      assert.equal(took, null);
    });
  }

  it('has no more nodes try commits that come faster than trials end than maxOnTrial allows', () => {
    const world = new LivingWorld([{ name: 'blue', nodes: 20, spec: { rollout: { ...ROLLOUT, maxOnTrial: 2 } } }]);
    const isTrying = ({ status }: KubeletNode): boolean => status?.active?.sha256 !== status?.lastKnownGood?.sha256;
    let most = 0;
    for (let step = 0; step < 90; step += 1) {
      if (step % 4 === 3) world.commit('blue');
      world.step();
      most = Math.max(most, [...world.sim.fleet.kubeletNodes.values()].filter(isTrying).length);
    }
    assert.equal(most, 2);
  });

  it('restarts a node for commits that come each minute once in a trial, says so, and finishes when they end', () => {
    const world = stormy();
    assert.ok(Math.max(...world.starts.values()) <= 12, JSON.stringify([...world.starts]));
    assert.match(world.sim.fleet.pools.get('blue')?.status?.message ?? '', /11\d configs in a row were replaced/);
    const { now } = world.sim;
    while (world.waiting().length > 0 && world.sim.now - now < HOUR) world.step();
    assert.deepEqual(world.waiting(), []);
    const restless = stormy(seeing((node) => ({ ...node, toldSince: 0 })));
    assert.ok(Math.max(...restless.starts.values()) > 50, 'by a planner that lets no node rest');
  });
});
