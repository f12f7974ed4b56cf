import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { type Quorum, quorumOf } from '#reconciler/policy/rollout/quorum.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import {
  commit,
  COMMIT_A,
  COMMIT_B,
  fleetOf,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { beside, describePlaces, many, NONE, type Row, SERVER } from './support/places.ts';

const REBOOTS: DisruptionSpec = {
  allow: ['restart', 'drain', 'reboot'],
  drainTimeout: '10m',
  reboot: { by: 'systemd', timeout: '1h' },
};

/** Three servers, of which the first is cordoned to be rebooted. */
function story(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['n1', 'n2', 'n3']) fleet.addNode(nodeView(name, 'workers', { labels: SERVER }));
  const spec = { disruption: REBOOTS, rollout: { ...poolSpec().rollout, ...many(3) } };
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, spec));
  fleet.rounds(12);
  fleet.inForce = commit(COMMIT_B, validPool('workers', 100, spec, { cgroupRoot: '/pods' }));
  fleet.reconcile();
  assert.deepEqual(steps(fleet), ['cordon n1']);
  return fleet;
}

const steps = (fleet: FleetSimulation): readonly string[] =>
  fleet.reconcile().steps.flatMap((step: Step) => {
    if (step.step === 'cordon' || step.step === 'uncordon') return [`${step.step} ${step.node}`];
    return step.step === 'assign' ? [`assign ${step.node.metadata.name}`] : [];
  });

const change = (fleet: FleetSimulation, name: string, view: Partial<NodeView>): void => {
  const node = fleet.fleet.nodes.get(name);
  assert.ok(node !== undefined);
  fleet.addNode({ ...node, ...view });
};

describe('a node of the control plane whose pods have left', () => {
  it('is rebooted', () => {
    const fleet = story();
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1']);
  });

  it('is not while another one is not Ready, and says which', () => {
    const fleet = story();
    change(fleet, 'n2', { ready: false });
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['uncordon n1']);
    const hold = fleet
      .reconcile()
      .pools.get('workers')
      ?.holds?.find(({ reason }) => reason === 'control-plane');
    assert.match(hold?.message ?? '', /go one at a time; not Ready, drained, changing or about to: n2$/);
    change(fleet, 'n2', { ready: true });
    assert.deepEqual(steps(fleet), ['cordon n1']);
  });
});

describe('the quorum of a control plane', () => {
  const [server, other] = [
    nodeView('s1', 'masters', { labels: SERVER }),
    nodeView('s2', 'masters', { labels: SERVER }),
  ];
  const quorum = (changing: NodeView, others: readonly NodeView[] = [other]): Quorum => {
    const nodes = [server, ...others, changing];
    const kubeletNodes = nodes.map((node) => settledNode(node, validPool('masters', 100)));
    const untouchable = [{ node: changing, choice: { choice: 'unknown' }, changing: true } as const];
    return quorumOf([], untouchable, fleetOf({ nodes, kubeletNodes }), NOW);
  };

  it('does not wait for workers in change', () => {
    assert.equal(quorum(nodeView('w1', 'workers')).hold(server), null);
    assert.match(quorum(nodeView('s3', 'masters', { labels: SERVER })).hold(server)?.because ?? '', /: s3$/);
    const microk8s = { labels: { 'node.kubernetes.io/microk8s-controlplane': 'microk8s-controlplane' } };
    assert.match(quorum(nodeView('s4', 'masters', microk8s)).hold(server)?.because ?? '', /: s4$/);
  });

  it('waits for who is drained by name, unless the node is drained itself', () => {
    const drained = { ...other, cordoned: true, drain: { config: 'x', at: 0 } };
    const asked = quorum(nodeView('w1', 'workers'), [drained]);
    assert.match(asked.hold(server)?.because ?? '', /: s2$/);
    assert.equal(asked.holdDrained(server), null);
  });
});

const DRAINED: Partial<NodeView> = { cordoned: true, drain: { config: 'x', at: 0 } };

const ILL = { labels: SERVER, ready: false };

const ROWS: readonly Row[] = [
  [
    'one of two of the control plane',
    [{ count: 2, view: { ...DRAINED, labels: SERVER } }],
    {},
    '1 control-plane',
    /about to: n0-0$/,
  ],
  [
    'none where another one is away, whether it is itself or not',
    [{ count: 1, view: { ...DRAINED, ...ILL } }, beside(1, { view: ILL })],
    {},
    '0 control-plane',
    /about to: n1-0$/,
  ],
  ['all others', [{ count: 3, view: DRAINED }], {}, 3],
];
describePlaces(
  'when its pods have left, a change begins on',
  ROWS,
  (budgets) => (member) => budgets.resume(NONE, { member, targetKind: 'settled' }),
);
