import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plan } from '#reconciler/policy/plan.ts';
import { unreadableCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { HOUR, MINUTE } from '../../support/liveness/living-world.ts';
import { seeing, withNodes, without } from './support/broken-planners.ts';

type Meddle = (fleet: FleetSimulation) => void;

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

const NOBODY: Meddle = () => undefined;

describe('a planner that breaks a law of a settled pool', () => {
  for (const [what, meddle, endsWell] of STORIES) {
    it(`is found where it ${what}`, () => {
      assert.ok(endsWell(NOBODY), 'the real one');
      assert.ok(!endsWell(meddle), 'the other one');
    });
  }
});
