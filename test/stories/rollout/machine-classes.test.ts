import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { budgetsOf } from '#reconciler/policy/rollout/max-unavailable.ts';
import { membershipOf } from '#reconciler/policy/rollout/membership.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import { massChange } from '#reconciler/policy/commit-admission/mass-change.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  fleetOf,
  idleNode,
  NOW,
  recordOf,
  validPool,
} from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';
import { large, provedBy, shaFor, sizedNode, sizedPool, small, toldTo } from '../../support/rollout/sized-pool.ts';

const MINUTE = 60_000;
const TENTH = "computed: {systemReserved: {memory: 'memory * 0.1'}}\n";
const FIFTH = "computed: {systemReserved: {memory: 'memory * 0.2'}}\n";

function simulate(pool: ValidPool, ...nodes: readonly NodeView[]): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const node of nodes) fleet.addNode(node);
  fleet.inForce = commit(COMMIT_A, pool);
  return fleet;
}

const proved = (fleet: FleetSimulation, ...names: readonly string[]) => names.map((name) => provedBy(fleet, name));
const statusOf = ({ fleet }: FleetSimulation) => fleet.pools.get('x')?.status ?? {};

/** Settled on the pool's payloads. */
function settled(pool: ValidPool, ...nodes: readonly NodeView[]): FleetSimulation {
  const fleet = simulate(pool, ...nodes);
  minutes(fleet, 30);
  assert.equal(statusOf(fleet).phase, 'Settled');
  return fleet;
}

const change = (fleet: FleetSimulation, pool: ValidPool): void => {
  fleet.inForce = commit(COMMIT_B, pool);
};

describe('a pool with computed values', () => {
  it('gives each class of machines its own config, one config source each, in one rollout', () => {
    const pool = sizedPool(TENTH);
    const nodes = [small('a'), small('b'), large('c')];
    const fleet = settled(pool, ...nodes);
    const [forSmall, forLarge] = [shaFor(pool, small('a')), shaFor(pool, large('c'))];
    assert.notEqual(forSmall, forLarge);
    assert.deepEqual(proved(fleet, 'a', 'b', 'c'), [forSmall, forSmall, forLarge]);
    assert.deepEqual([...fleet.restarts.values()], [1, 1, 1]);
    assert.deepEqual(
      [...fleet.fleet.configSources.values()].map(({ sha256 }) => sha256).sort(),
      [forSmall, forLarge].sort(),
    );
    const { classes = [], rollout, counts, sha256, proof } = statusOf(fleet);
    assert.deepEqual(
      classes.map(({ name, nodes: count }) => `${name} ${count}`),
      ['memory=7680Mi 2', 'memory=63488Mi 1'],
    );
    assert.equal(rollout?.sha256, pool.sha256);
    assert.equal(sha256, pool.sha256);
    assert.equal(counts?.updated, 3);
    assert.deepEqual(
      proof?.classes.map(({ proven = -1 }) => proof.payloads[proven]),
      [forLarge, forSmall],
    );
  });

  it('never lets more try what is not proven than maxUnavailable allows, over all classes', () => {
    const fleet = settled(sizedPool(TENTH), small('a'), small('b'), large('c'), large('d'));
    const next = sizedPool(FIFTH);
    change(fleet, next);
    const untold = new Set(['a', 'b', 'c', 'd']);
    for (let round = 0; round < 60; round += 1) {
      fleet.reconcile();
      const told = [...untold].filter(
        (name) => toldTo(fleet, name) === shaFor(next, name < 'c' ? small(name) : large(name)),
      );
      const trying = told.filter((name) => provedBy(fleet, name) !== toldTo(fleet, name));
      assert.ok(trying.length <= 1, trying.join());
      fleet.agentsStep();
      fleet.now += MINUTE / 2;
    }
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('changes no node whose class gets the same as before', () => {
    const fleet = settled(
      sizedPool('computed: {systemReserved: {memory: \'min(memory * 0.1, quantity("2Gi"))\'}}\n'),
      small('a'),
      large('b'),
    );
    change(fleet, sizedPool('computed: {systemReserved: {memory: \'min(memory * 0.05, quantity("2Gi"))\'}}\n'));
    minutes(fleet, 20);
    assert.deepEqual([fleet.restarts.get('a'), fleet.restarts.get('b')], [2, 1]);
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('halts for all classes where one fails, and names that class', () => {
    const fleet = settled(sizedPool(TENTH), small('a'), small('b'), large('c'), large('d'));
    const next = sizedPool(FIFTH);
    fleet.deadly.add(shaFor(next, large('c')));
    change(fleet, next);
    minutes(fleet, 60);
    const { halt, phase, failures } = statusOf(fleet);
    assert.equal(phase, 'Halted');
    assert.match(halt?.message ?? '', /^x-\w+ of machines with memory=63488Mi failed on c \(threshold 1\)/);
    assert.equal(halt?.sha256, next.sha256);
    assert.equal(failures?.length, 1);
    assert.equal(fleet.exposed.get(shaFor(next, large('c')))?.size, 1);
    assert.equal(toldTo(fleet, 'd'), shaFor(sizedPool(TENTH), large('d')));
  });

  const REVERT = '{maxUnavailable: 1, onFailure: {threshold: 1, action: revert}}';

  for (const [name, nodes] of [
    ['each class back to what it had', [small('a'), large('b'), small('c'), large('d')]],
    ['one back of which every node has proven it, too', [small('a'), small('b'), large('c'), large('d')]],
  ] as const) {
    it(`takes ${name} where it reverts, as the leader knows by itself`, () => {
      const before = sizedPool(TENTH, REVERT);
      const fleet = settled(before, ...nodes);
      const next = sizedPool(FIFTH, REVERT);
      fleet.deadly.add(shaFor(next, large('x')));
      change(fleet, next);
      minutes(fleet, 60);
      assert.deepEqual(
        proved(fleet, 'a', 'b', 'c', 'd'),
        nodes.map((node) => shaFor(before, node)),
      );
      assert.deepEqual([fleet.restarts.get('a'), statusOf(fleet).phase], [3, 'Halted']);
    });
  }

  it('goes on after a restart of the reconciler where it was', () => {
    const fleet = settled(sizedPool(TENTH), small('a'), large('b'), large('c'));
    const { classes } = statusOf(fleet);
    fleet.restart();
    const { inForce } = fleet;
    fleet.inForce = null;
    minutes(fleet, 5);
    assert.deepEqual(statusOf(fleet).classes, classes, 'nobody forgets which nodes are of one class');
    fleet.inForce = inForce;
    minutes(fleet, 5);
    assert.deepEqual([...fleet.restarts.values()], [1, 1, 1]);
    assert.equal(statusOf(fleet).phase, 'Settled');
    assert.equal(fleet.fleet.configSources.size, 2);
  });

  it('gives a joining node of a known class what the class settled on, while another rollout is under way', () => {
    const before = sizedPool(TENTH);
    const fleet = settled(before, small('a'), small('b'), large('c'));
    change(fleet, sizedPool(FIFTH, '{maxUnavailable: 1, soak: 60m}'));
    minutes(fleet, 3);
    fleet.addNode(large('late', { createdAt: fleet.now, readySince: fleet.now }));
    minutes(fleet, 2);
    assert.equal(toldTo(fleet, 'late'), shaFor(before, large('late')));
  });

  it('lets a machine of a kind that nobody had try its config in turn, and others of it at once afterwards', () => {
    const pool = sizedPool(TENTH);
    const fleet = settled(pool, small('a'), small('b'));
    const begun = statusOf(fleet).rollout?.startedAt;
    for (const name of ['n1', 'n2', 'n3']) fleet.addNode(large(name, { createdAt: fleet.now, readySince: fleet.now }));
    fleet.rounds(3);
    const told = ['n1', 'n2', 'n3'].filter((name) => toldTo(fleet, name) !== 'local');
    assert.equal(told.length, 1, 'maxUnavailable bounds what is unproven, whoever joins');
    minutes(fleet, 20);
    assert.equal(statusOf(fleet).rollout?.startedAt, begun, 'no new rollout begins');
    assert.deepEqual(
      statusOf(fleet).proof?.classes.map(({ name, state }) => `${name} ${state}`),
      ['memory=63488Mi proven', 'memory=7680Mi proven'],
    );
    for (const name of ['n4', 'n5']) fleet.addNode(large(name, { createdAt: fleet.now, readySince: fleet.now }));
    fleet.rounds(3);
    assert.deepEqual(
      ['n4', 'n5'].map((name) => toldTo(fleet, name)),
      [shaFor(pool, large('n4')), shaFor(pool, large('n5'))],
    );
  });

  it('shows a deadly config to one of the new machines, and to none of the others', () => {
    const pool = sizedPool(TENTH);
    const fleet = settled(pool, small('a'), small('b'));
    fleet.deadly.add(shaFor(pool, large('n1')));
    for (let index = 0; index < 20; index += 1) {
      fleet.addNode(large(`n${index}`, { createdAt: fleet.now, readySince: fleet.now }));
    }
    minutes(fleet, 30);
    assert.equal(fleet.exposed.get(shaFor(pool, large('n1')))?.size, 1);
    assert.equal(statusOf(fleet).phase, 'Halted');
    assert.deepEqual(proved(fleet, 'a', 'b'), [shaFor(pool, small('a')), shaFor(pool, small('b'))]);
  });

  it('leaves a node in its class when a new kernel keeps some mebibytes, and changes it in its turn when memory is added', () => {
    const pool = sizedPool(TENTH);
    const first = sizedNode('a', 2, 7.502);
    const fleet = settled(pool, first, small('b'));
    assert.equal(
      fleet.fleet.kubeletNodes.get('a')?.metadata.annotations?.[MACHINE_ANNOTATION],
      'memory=7680Mi,ephemeralStorage=102400Mi',
    );
    fleet.addNode(sizedNode('a', 2, 7.49));
    minutes(fleet, 5);
    fleet.restart();
    minutes(fleet, 5);
    assert.equal(fleet.restarts.get('a'), 1);
    fleet.addNode(sizedNode('a', 2, 15.6));
    minutes(fleet, 10);
    assert.equal(fleet.restarts.get('a'), 2);
    assert.equal(provedBy(fleet, 'a'), shaFor(pool, sizedNode('a', 2, 15.6)));
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('holds a class that has no config, and it alone, and says why', () => {
    const before = validPool('x', 110);
    const fleet = settled(before, small('a'), large('b'), large('c'));
    const next = sizedPool('computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}\n');
    change(fleet, next);
    minutes(fleet, 20);
    assert.equal(toldTo(fleet, 'a'), before.sha256);
    assert.deepEqual(
      proved(fleet, 'b', 'c'),
      ['b', 'c'].map((name) => shaFor(next, large(name))),
    );
    const { phase, holds, classes, conditions, settled: on } = statusOf(fleet);
    assert.equal(phase, 'Waiting');
    assert.deepEqual(
      holds?.map(({ reason, nodes }) => [reason, nodes]),
      [['not-computable', 1]],
    );
    assert.match(holds?.[0]?.message ?? '', /systemReserved.memory cannot be computed: it comes to less than nothing/);
    assert.deepEqual(
      classes?.map(({ name, configName }) => [name, configName !== undefined]),
      [
        ['memory=63488Mi', true],
        ['memory=7680Mi', false],
      ],
    );
    assert.equal(conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
    assert.match(conditions?.find(({ type }) => type === 'ConfigValid')?.message ?? '', /not-computable/);
    // The others have arrived: whoever joins gets what they have.
    assert.equal(on?.sha256, next.sha256);
  });

  it('holds a class whose config its kubelets refuse', () => {
    const pool = sizedPool(
      "computed: {systemReserved: {memory: 'memory * 0.1'}, registryPullQPS: 'milliCpu > 4000 ? 7 : 5'}\n",
    );
    const fleet = fleetOf({ nodes: [small('a'), large('b')] });
    const desired = desiredState(commit(COMMIT_A, pool), fleet, (of, minors) =>
      of.value['registryPullQPS'] === 7
        ? [{ code: 'out-of-range', severity: 'error', message: `no kubelet ${minors.join()} takes it` }]
        : judgePool(of, minors),
    );
    const classes = desired.pools.get('x')?.classes?.byNode;
    assert.notEqual(classes?.get('a')?.config, null);
    assert.equal(classes?.get('b')?.config, null);
    assert.match(
      classes?.get('b')?.because ?? '',
      /^the config is not valid: .* no kubelet 1\.36 takes it \[kubelet 1\.36\]$/,
    );
  });

  it('counts by what nodes really get where a commit may change only so many', () => {
    const [before, next] = [
      sizedPool('computed: {systemReserved: {memory: \'min(memory * 0.1, quantity("2Gi"))\'}}\n'),
      sizedPool('computed: {systemReserved: {memory: \'min(memory * 0.05, quantity("2Gi"))\'}}\n'),
    ];
    const { fleet } = settled(before, small('a'), small('b'), large('c'));
    const [had, gets] = [before, next].map((pool) => desiredState(commit(COMMIT_A, pool), fleet, () => []));
    assert.ok(had !== undefined && gets !== undefined);
    assert.deepEqual(massChange(had, gets, 1, fleet)?.changed, 2);
    assert.equal(massChange(had, gets, 2, fleet), undefined);
    assert.equal(massChange(had, had, 0, fleet), undefined);
  });

  it('keeps the config sources of what it settled on, and prunes what nobody needs', () => {
    const fleet = settled(sizedPool(TENTH), small('a'), large('b'));
    fleet.removeNode('b');
    fleet.now += 24 * 60 * MINUTE;
    minutes(fleet, 3);
    assert.equal(fleet.fleet.configSources.size, 2, 'another of its kind may come');
    change(fleet, sizedPool(FIFTH));
    minutes(fleet, 20);
    fleet.now += 24 * 60 * MINUTE;
    minutes(fleet, 3);
    assert.equal(fleet.fleet.configSources.size, 1);
    assert.ok(fleet.now > NOW);
  });

  it('lets nobody else hear of what is not proven while as many try it as may, and everybody of what a class settled on', () => {
    const pool = sizedPool(TENTH, '{maxUnavailable: 2}');
    const given = (node: NodeView): ValidPool => {
      const found = poolOfNode(pool, node).class.pool;
      assert.ok(found !== undefined);
      return found;
    };
    const nodes = [large('n1'), large('n2'), large('n3'), small('s1')];
    const held = (settledOn: readonly NodeView[]): readonly boolean[] => {
      const classes = settledOn.map((node) => {
        return recordOf(poolOfNode(pool, node).class.class.name, given(node).sha256);
      });
      const fleet = fleetOf({
        nodes,
        kubeletNodes: nodes.map((node) => (node.name < 'n3' ? assignedNode(node, given(node)) : idleNode(node))),
      });
      const { groups } = membershipOf(
        desiredState(commit(COMMIT_A, pool), fleet, () => []),
        fleet,
        NOW,
      );
      const [group] = groups.map((each) => ({
        ...each,
        // Those that join hold no place of nodes that serve, and count as exposed all the same.
        members: each.members.map((member) => ({ ...member, joining: member.node.name < 'n3' })),
      }));
      assert.ok(group !== undefined);
      const proof = poolProof(group, { status: { proof: writeProof(classes) }, isOwn: true }, NOW);
      const known = { ...group, proof };
      return ['n3', 's1'].map((name) => {
        const member = group.members.find(({ node }) => node.name === name);
        assert.ok(member !== undefined);
        return budgetsOf([known], [], fleet, [], NOW).expose(known, member) !== null;
      });
    };
    assert.deepEqual(held([]), [true, true]);
    assert.deepEqual(held([small('s1')]), [true, false]);
    assert.deepEqual(held([large('n1')]), [false, false]);
  });
});
