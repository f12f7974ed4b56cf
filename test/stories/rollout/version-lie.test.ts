import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { ONLY_CLASS, readProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

const OLD = 'v1.21.0';
const HONEST = ['n1', 'n2', 'n3'];
const NEW_FIELD = { serializeImagePulls: false, maxParallelImagePulls: 3 };

const rollout = { ...poolSpec().rollout, canary: { nodes: 1 } };
/** What every kubelet takes, and what those before 1.27 refuse. */
const plain = (maxPods: number): ValidPool => validPool('workers', maxPods, { rollout });
const modern = (maxPods: number): ValidPool => validPool('workers', maxPods, { rollout }, NEW_FIELD);

const computed = (field: string): ValidPool =>
  sizedPool(`computed: {systemReserved: {memory: 'memory * 0.1'}${field}}\n`);
const COMPUTED_FIELD = ", serializeImagePulls: 'false', maxParallelImagePulls: '3'";

function fleetWith(nodes: readonly NodeView[], first: ValidPool): FleetSimulation {
  const fleet = new FleetSimulation();
  fleet.judge = judgePool;
  for (const node of nodes) fleet.addNode(node);
  // Agents are there before the first commit is.
  fleet.rounds(2);
  take(fleet, COMMIT_A, first);
  return fleet;
}

function take(fleet: FleetSimulation, oid: string, pool: ValidPool): void {
  fleet.inForce = commit(oid, pool);
  minutes(fleet, 40, 1);
}

const honest = (names = HONEST): readonly NodeView[] => names.map((name) => nodeView(name, 'workers'));
/** Older than the others, so that it would be the canary. */
const liar = nodeView('liar', 'workers', { kubeletVersion: OLD, createdAt: 0 });

const statusOf = (fleet: FleetSimulation, pool = 'workers'): KubeletPoolStatus =>
  fleet.fleet.pools.get(pool)?.status ?? {};
const proved = (fleet: FleetSimulation, names = HONEST): readonly (string | undefined)[] => [
  ...new Set(names.map((name) => fleet.fleet.kubeletNodes.get(name)?.status?.lastKnownGood?.sha256)),
];
const told = (fleet: FleetSimulation, name: string): string | undefined =>
  fleet.fleet.kubeletNodes.get(name)?.spec?.configSource?.sha256;
const isValid = (fleet: FleetSimulation): string | undefined =>
  statusOf(fleet).conditions?.find(({ type }) => type === 'ConfigValid')?.status;
const holds = (fleet: FleetSimulation, pool?: string): readonly (readonly [string, readonly string[]])[] =>
  (statusOf(fleet, pool).holds ?? []).map(({ reason, examples }) => [reason, examples]);

describe('a node that says its kubelet is too old for a commit', () => {
  it('holds itself, by name, while the others get the commit, the next one, and the one that takes both back', () => {
    const fleet = fleetWith([liar, ...honest()], plain(100));
    assert.equal(told(fleet, 'liar'), plain(100).sha256);
    for (const next of [modern(110), modern(120)]) {
      take(fleet, COMMIT_B, next);
      assert.deepEqual(proved(fleet), [next.sha256]);
      assert.equal(told(fleet, 'liar'), plain(100).sha256);
      assert.deepEqual(holds(fleet), [['not-valid', ['liar']]]);
      assert.match(statusOf(fleet).holds?.[0]?.message ?? '', /1\.21.*maxParallelImagePulls/);
      assert.equal(isValid(fleet), 'True');
      assert.equal(statusOf(fleet).settled?.sha256, next.sha256);
      const { state, current, proven } = readProof(statusOf(fleet)).get(ONLY_CLASS) ?? {};
      assert.deepEqual([state, current?.sha256, proven?.sha256], ['proven', next.sha256, next.sha256]);
    }
    take(fleet, COMMIT_A, plain(90));
    assert.deepEqual(proved(fleet, [...HONEST, 'liar']), [plain(90).sha256]);
    assert.equal(statusOf(fleet).phase, 'Settled');
  });

  it('is told nothing either when it joins in the middle of a rollout, or after it', () => {
    const fleet = fleetWith(honest(), modern(100));
    fleet.inForce = commit(COMMIT_B, modern(110));
    fleet.rounds(2);
    for (const name of ['early', 'late']) {
      fleet.addNode({ ...liar, name, uid: name, createdAt: fleet.now });
      minutes(fleet, 40, 1);
    }
    assert.deepEqual(proved(fleet), [modern(110).sha256]);
    assert.deepEqual([told(fleet, 'early'), told(fleet, 'late')], [undefined, undefined]);
    assert.deepEqual(holds(fleet), [['not-valid', ['early', 'late']]]);
  });

  it('holds itself alone in its class of machines', () => {
    const sized = HONEST.map((name) => sizedNode(name, 2, 7.7));
    const fleet = fleetWith([...sized, { ...sizedNode('liar', 2, 7.7), kubeletVersion: OLD }], computed(''));
    const before = told(fleet, 'liar');
    assert.deepEqual(proved(fleet), [before]);
    take(fleet, COMMIT_B, computed(COMPUTED_FIELD));
    const [after, ...others] = proved(fleet);
    assert.deepEqual([others, after === before], [[], false]);
    assert.equal(told(fleet, 'liar'), before);
    assert.deepEqual(holds(fleet, 'x'), [['not-valid', ['liar']]]);
  });
});

describe('canaries of which most are too old', () => {
  it('let no more nodes try it next than those allow that proved it', () => {
    const { probation: _, ...atPace } = poolSpec().rollout;
    const selector = { matchLabels: { canary: 'yes' } };
    const spec = { rollout: { ...atPace, maxUnavailable: 6, maxOnTrial: 6, canary: { selector } } };
    const canary = { labels: { pool: 'workers', canary: 'yes' } };
    const others = Array.from({ length: 7 }, (_, index) => `n${index}`);
    const nodes = [
      ...['o1', 'o2', 'o3', 'o4'].map((name) => nodeView(name, 'workers', { ...canary, kubeletVersion: OLD })),
      nodeView('first', 'workers', canary),
      ...honest(others),
    ];
    const fleet = fleetWith(nodes, validPool('workers', 100, spec));
    const next = validPool('workers', 110, spec, NEW_FIELD);
    fleet.inForce = commit(COMMIT_B, next);
    minutes(fleet, 3, 1);
    assert.deepEqual([...(fleet.exposed.get(next.sha256) ?? [])], ['first']);
    while (fleet.exposed.get(next.sha256)?.size === 1) minutes(fleet, 1, 1);
    assert.equal(fleet.exposed.get(next.sha256)?.size, 3, 'the canary, and two by what it has shown');
  });
});

describe('a commit that more than half of the nodes are too old for', () => {
  it('is refused for the pool, which keeps what it has', () => {
    const old = ['o1', 'o2', 'o3', 'o4'].map((name) => nodeView(name, 'workers', { kubeletVersion: OLD }));
    const fleet = fleetWith([...honest(), ...old], plain(100));
    take(fleet, COMMIT_B, modern(110));
    assert.deepEqual(proved(fleet), [plain(100).sha256]);
    assert.equal(isValid(fleet), 'False');
    assert.equal(fleet.exposed.has(modern(110).sha256), false);
    // One less, and the others go on.
    fleet.removeNode('o4');
    minutes(fleet, 40, 1);
    assert.deepEqual(proved(fleet), [modern(110).sha256]);
    assert.equal(isValid(fleet), 'True');
  });

  it('is refused for a pool with computed values by all of its classes together', () => {
    const kubelets = (count: number, of: Partial<NodeView>, memory: number) =>
      Array.from({ length: count }, (_, index) => sizedNode(`${of.kubeletVersion}-${memory}-${index}`, 2, memory, of));
    const [small, large, old] = [7.7, 15.6, { kubeletVersion: OLD }];
    const fleet = fleetWith(
      [...kubelets(2, {}, small), ...kubelets(1, old, small), ...kubelets(3, old, large), ...kubelets(1, {}, large)],
      computed(''),
    );
    const before = statusOf(fleet, 'x').sha256;
    take(fleet, COMMIT_B, computed(COMPUTED_FIELD));
    assert.equal(statusOf(fleet, 'x').sha256, before);
    const valid = statusOf(fleet, 'x').conditions?.find(({ type }) => type === 'ConfigValid');
    assert.deepEqual([valid?.status, valid?.reason], ['False', 'Refused']);
    fleet.removeNode(`${OLD}-${large}-0`);
    minutes(fleet, 60, 1);
    assert.notEqual(statusOf(fleet, 'x').sha256, before);
    assert.deepEqual(
      holds(fleet, 'x').map(([reason, names]) => [reason, names.length]),
      [['not-valid', 3]],
    );
  });

  it('stays in force where it was before their versions changed, also for a new leader', () => {
    const fleet = fleetWith(honest(), modern(100));
    assert.deepEqual(proved(fleet), [modern(100).sha256]);
    for (const name of HONEST) {
      fleet.addNode(nodeView(name, 'workers', { kubeletVersion: OLD }));
      minutes(fleet, 5, 1);
      assert.equal(isValid(fleet), 'True', name);
      fleet.restart();
      minutes(fleet, 5, 1);
      assert.equal(isValid(fleet), 'True', name);
    }
    fleet.addNode(nodeView('n4', 'workers'));
    minutes(fleet, 40, 1);
    assert.deepEqual(proved(fleet, ['n4', ...HONEST]), [modern(100).sha256]);
    // Who reads another commit asks the nodes as they are now.
    take(fleet, COMMIT_B, modern(110));
    assert.equal(isValid(fleet), 'False');
    assert.equal(fleet.exposed.has(modern(110).sha256), false);
  });
});
