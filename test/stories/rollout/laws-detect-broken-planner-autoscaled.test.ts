import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plan } from '#reconciler/policy/plan.ts';
import { unreadableCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { AutoscaledPool, MINUTE } from '../../support/rollout/autoscaled-pool.ts';
import { seeing, withNodes, without } from './support/broken-planners.ts';

type Meddle = (fleet: FleetSimulation) => void;

const HOUR = 60 * MINUTE;
const rollout = { ...poolSpec().rollout, maxUnavailable: 4, soak: '0s' };
const [before, after] = [validPool('workers', 100, { rollout }), validPool('workers', 110, { rollout })];

/** Ten nodes of a pool that settled long ago. */
function settled(prepare: (fleet: FleetSimulation) => void = () => undefined): FleetSimulation {
  const fleet = new FleetSimulation();
  prepare(fleet);
  for (let index = 0; index < 10; index += 1) fleet.addNode(nodeView(`n${index}`, 'workers'));
  fleet.inForce = commit(COMMIT_A, before);
  minutes(fleet, 60);
  assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  return fleet;
}

function minutes(fleet: FleetSimulation, count: number): readonly Step[] {
  return Array.from({ length: count }).flatMap(() => {
    fleet.now += MINUTE;
    fleet.agentsStep();
    return fleet.reconcile().steps;
  });
}

const toldIn = (steps: readonly Step[]): number =>
  steps.filter(({ step }) => step === 'assign' || step === 'unassign').length;

/** A story that ends well by a law, and what a planner, or what it sees, that breaks the law makes of it. */
const STORIES: readonly (readonly [string, Meddle, (meddle: Meddle) => boolean])[] = [
  [
    'lets those that join take the places of those that serve',
    (fleet) => {
      fleet.planner = seeing(withNodes((node) => ({ ...node, createdAt: 0, firstSeen: 0 })));
    },
    (meddle) => {
      const calm = new AutoscaledPool().roll(Number.POSITIVE_INFINITY).settled;
      const pool = new AutoscaledPool();
      meddle(pool.fleet);
      return endsWithin(pool, 1.3 * calm);
    },
  ],
  [
    'takes the times of machines for its own',
    (fleet) => {
      fleet.ownTime = (seen) => seen;
    },
    (meddle) => {
      const fleet = settled((new_) => {
        new_.clocks = { machine: () => -HOUR, apiServer: 0 };
      });
      meddle(fleet);
      const waves = { ...rollout, canary: { nodes: 1, soak: '1h' } };
      fleet.inForce = commit(COMMIT_B, validPool('workers', 110, { rollout: waves }));
      return toldIn(minutes(fleet, 30)) === 1;
    },
  ],
  [
    'takes lost labels for an order',
    (fleet) => {
      fleet.planner = seeing(withNodes((node) => without(node, 'unselected', 'poolChange')));
    },
    (meddle) => {
      const fleet = settled();
      meddle(fleet);
      for (let index = 0; index < 6; index += 1) fleet.addNode(nodeView(`n${index}`, 'nobody'));
      return toldIn(minutes(fleet, 30)) === 0;
    },
  ],
  [
    'takes a cluster’s file that is lost for one that allows everything',
    (fleet) => {
      fleet.planner = (desired, ...more) => {
        const { unreadable: _, ...policy } = desired.policy;
        return plan({ ...desired, policy }, ...more);
      };
    },
    (meddle) => {
      const fleet = settled();
      meddle(fleet);
      const next = commit(COMMIT_B, after);
      fleet.inForce = { ...next, repo: { ...next.repo, cluster: unreadableCluster([]) } };
      return toldIn(minutes(fleet, 30)) === 0;
    },
  ],
];

function endsWithin(pool: AutoscaledPool, mostMinutes: number): boolean {
  try {
    return pool.roll(5, mostMinutes).settled <= mostMinutes;
  } catch {
    return false;
  }
}

const NOBODY: Meddle = () => undefined;

describe('a planner that breaks a law of the world that moves', () => {
  for (const [what, meddle, endsWell] of STORIES) {
    it(`is found where it ${what}`, () => {
      assert.ok(endsWell(NOBODY), 'the real one');
      assert.ok(!endsWell(meddle), 'the other one');
    });
  }
});
