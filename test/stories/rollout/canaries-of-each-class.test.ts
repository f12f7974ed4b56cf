import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { commit, COMMIT_A, COMMIT_B, poolSpec, validPool } from '../../support/fleet.ts';
import { fc, forAllOf } from '../../support/property.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';
import { large, medium, provedBy, shaFor, sizedPool, small, toldTo } from '../../support/rollout/sized-pool.ts';

const MINUTE = 60_000;
const BEFORE = "computed: {systemReserved: {memory: 'memory * 0.1'}}\n";
const AFTER = "computed: {systemReserved: {memory: 'memory * 0.15'}}\n";
const ROLLOUT =
  '{maxUnavailable: 50%, probation: full, canary: {nodes: 1, perClass: true}, onFailure: {threshold: 50%}}';

/** The first makes config sources, the next assigns them. */
const passes = (fleet: FleetSimulation): void => {
  for (let pass = 0; pass < 3; pass += 1) fleet.reconcile();
};

const statusOf = ({ fleet }: FleetSimulation) => fleet.pools.get('x')?.status ?? {};
const wavesOf = (fleet: FleetSimulation) =>
  statusOf(fleet).rollout?.waves.map(({ name, nodes, state }) => `${name} ${nodes} ${state}`);

/** Settled on what was before, and told of what comes. */
function changing(nodes: readonly NodeView[], rollout = ROLLOUT): { readonly fleet: FleetSimulation; next: ValidPool } {
  const fleet = new FleetSimulation();
  for (const node of nodes) fleet.addNode(node);
  fleet.inForce = commit(COMMIT_A, sizedPool(BEFORE, rollout));
  for (let minute = 0; minute < 60 && statusOf(fleet).phase !== 'Settled'; minute += 1) minutes(fleet, 1);
  assert.equal(statusOf(fleet).phase, 'Settled');
  const next = sizedPool(AFTER, rollout);
  fleet.inForce = commit(COMMIT_B, next);
  return { fleet, next };
}

/** The nodes that were told what comes. */
const begun = (fleet: FleetSimulation, next: ValidPool): readonly string[] =>
  [...fleet.fleet.nodes.values()].flatMap((node) =>
    toldTo(fleet, node.name) === shaFor(next, node) ? [node.name] : [],
  );

describe('canaries of each class', () => {
  const THREE_KINDS = [small('a1'), small('a2'), small('a3'), medium('b1'), medium('b2'), large('c1')];

  it('are that many of each, and the others wait for all of them', () => {
    const { fleet, next } = changing(THREE_KINDS);
    passes(fleet);
    assert.deepEqual(begun(fleet, next), ['a1', 'b1', 'c1']);
    minutesOf(fleet, ['a1', 'b1'], 10);
    assert.deepEqual(begun(fleet, next), ['a1', 'b1', 'c1']);
    assert.deepEqual(wavesOf(fleet), ['canary 3 soaking', 'rest 6 waiting']);
    const { holds = [] } = statusOf(fleet);
    assert.match(holds[0]?.message ?? '', /in each class: 2 of 3 have, not yet memory=63488Mi$/);
    minutes(fleet, 10);
    assert.deepEqual(begun(fleet, next), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('are a share of each where it is one', () => {
    const { fleet, next } = changing(THREE_KINDS, ROLLOUT.replace('nodes: 1', 'nodes: 60%').replace('50%', '100%'));
    passes(fleet);
    assert.deepEqual(begun(fleet, next), ['a1', 'a2', 'b1', 'b2', 'c1']);
  });

  it('hold nobody up of whose class nobody is left', () => {
    const { fleet, next } = changing([...THREE_KINDS, large('c2')]);
    passes(fleet);
    fleet.removeNode('c1');
    fleet.removeNode('c2');
    minutes(fleet, 10);
    assert.deepEqual(begun(fleet, next), ['a1', 'a2', 'a3', 'b1', 'b2']);
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('hold nobody else up where no node of a class can be changed, and go first there afterwards', () => {
    const away = { ready: false };
    const { fleet, next } = changing([...THREE_KINDS, large('c2'), large('c3')]);
    for (const name of ['c1', 'c2', 'c3']) fleet.addNode(large(name, away));
    minutes(fleet, 15);
    assert.deepEqual(begun(fleet, next), ['a1', 'a2', 'a3', 'b1', 'b2']);
    for (const name of ['c1', 'c2', 'c3']) fleet.addNode(large(name, { readySince: fleet.now }));
    fleet.reconcile();
    assert.deepEqual(
      begun(fleet, next).filter((name) => name.startsWith('c')),
      ['c1'],
    );
    assert.match(
      statusOf(fleet).holds?.[0]?.message ?? '',
      /^no node with memory=63488Mi has proven the config of its class yet$/,
    );
    passes(fleet);
    assert.equal(begun(fleet, next).length, 6, 'the others wait for it');
    minutes(fleet, 15);
    assert.deepEqual(begun(fleet, next).length, 8);
  });

  it('are as many of a new kind that joins: what others have proven says nothing of it', () => {
    const { fleet, next } = changing(THREE_KINDS.slice(0, 5));
    minutes(fleet, 20);
    const since = { createdAt: fleet.now, readySince: fleet.now };
    for (const name of ['n1', 'n2', 'n3', 'n4']) fleet.addNode(large(name, since));
    fleet.reconcile();
    fleet.agentsStep();
    fleet.reconcile();
    assert.equal(begun(fleet, next).filter((name) => name.startsWith('n')).length, 1);
    assert.deepEqual(wavesOf(fleet), ['canary 2 done', 'rest 5 done']);
  });

  it('are replaced by another of their class where one fails, and nobody else begins', () => {
    const { fleet, next } = changing(THREE_KINDS.concat(large('c2')));
    fleet.deadly.add(shaFor(next, large('c1')));
    minutes(fleet, 30);
    assert.deepEqual(begun(fleet, next), ['a1', 'b1', 'c1', 'c2']);
    assert.deepEqual(wavesOf(fleet), ['canary 3 stopped', 'rest 7 waiting']);
  });

  it('ask nothing of a class that has no config', () => {
    const text = 'computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}\n';
    const { fleet } = changing(THREE_KINDS);
    fleet.inForce = commit(COMMIT_B, sizedPool(text, ROLLOUT));
    minutes(fleet, 20);
    assert.deepEqual(wavesOf(fleet), ['canary 2 done', 'rest 3 done']);
  });

  it('are those of the pool where it computes nothing', () => {
    const { fleet } = changing(THREE_KINDS);
    const rollout = { ...poolSpec().rollout, maxUnavailable: '50%', canary: { nodes: 1, perClass: true } };
    const plain = validPool('x', 120, { rollout });
    fleet.inForce = commit(COMMIT_B, plain);
    passes(fleet);
    assert.equal([...fleet.fleet.nodes.keys()].filter((name) => toldTo(fleet, name) === plain.sha256).length, 1);
  });

  const machine = fc.record({
    kind: fc.constantFrom(small, medium, large),
    ready: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
  });

  it('have proven it before any other node of their class begins', () => {
    forAllOf(
      25,
      fc.array(machine, { minLength: 2, maxLength: 9 }),
      fc.constantFrom('100%', '50%'),
      fc.array(fc.tuple(fc.nat(8), fc.boolean()), { maxLength: 6 }),
      (machines, maxUnavailable, flaps) => {
        const rollout = `{maxUnavailable: ${maxUnavailable}, canary: {nodes: 1, perClass: true}, steps: [{nodes: 50%}]}`;
        const nodes = machines.map(({ kind }, index) => kind(`n${index}`));
        const { fleet, next } = changing(nodes, rollout);
        machines.forEach(({ kind, ready }, index) => fleet.addNode(kind(`n${index}`, { ready })));
        const classOf = (node: NodeView): string => poolOfNode(next, node).class.class.name;
        const proven = new Set<string>();
        for (let round = 0; round < 25; round += 1) {
          const flap = flaps[round];
          const kind = machines[flap?.[0] ?? -1]?.kind;
          if (flap !== undefined && kind !== undefined) fleet.addNode(kind(`n${flap[0]}`, { ready: flap[1] }));
          const before = new Set(begun(fleet, next));
          fleet.reconcile();
          for (const [name, each] of Map.groupBy(fleet.fleet.nodes.values(), classOf)) {
            const told = each.filter((node) => toldTo(fleet, node.name) === shaFor(next, node));
            const isNews = told.some((node) => !before.has(node.name));
            if (isNews && !proven.has(name)) assert.ok(told.length <= 1, told.map((node) => node.name).join());
          }
          fleet.agentsStep();
          for (const node of fleet.fleet.nodes.values()) {
            if (provedBy(fleet, node.name) === shaFor(next, node)) proven.add(classOf(node));
          }
          fleet.now += MINUTE;
        }
      },
    );
  });
});

/** So long only these agents go on. */
function minutesOf(fleet: FleetSimulation, names: readonly string[], count: number): void {
  for (let minute = 0; minute < count; minute += 1) {
    fleet.reconcile();
    for (const name of fleet.fleet.nodes.keys()) {
      if (names.includes(name)) fleet.agentStep(name);
      else fleet.beat(name);
    }
    fleet.now += MINUTE;
  }
}
