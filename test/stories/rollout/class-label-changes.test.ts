import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changedLabels, labelsAsked, writeClassLabels } from '#reconciler/policy/class-labels.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { CLASS_LABELS_ANNOTATION, MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { commit, COMMIT_A, COMMIT_B } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';
import { provedBy, shaFor, sizedNode, sizedPool, toldTo } from '../../support/rollout/sized-pool.ts';

const TIER = 'example.com/tier';
const BY_TIER = `computed: {systemReserved: {memory: 'labels["${TIER}"] == "gold" ? memory * 0.2 : memory * 0.1'}}\n`;
const ROLLOUT = '{maxUnavailable: 100%, onFailure: {threshold: 100%}}';
const byTier = () => sizedPool(BY_TIER, ROLLOUT);

const of = (name: string, tier: string, view: Partial<NodeView> = {}): NodeView =>
  sizedNode(name, 2, 7.7, { labels: { pool: 'x', [TIER]: tier }, ...view });
/** SHA-256 of what the pool gives the nodes of a tier. */
const shaOf = (tier: string): string => shaFor(byTier(), of('a', tier));
const NAMES = Array.from({ length: 10 }, (_, index) => `n${index}`);

/** Ten golden nodes that run what is for these; two may be changed by their labels. */
function golden(computed = byTier()): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of NAMES) fleet.addNode(of(name, 'gold'));
  const { oid, repo } = commit(COMMIT_A, computed);
  fleet.inForce = { oid, repo: { ...repo, cluster: { ...DEFAULT_CLUSTER, maxUnassign: 2 } } };
  minutes(fleet, 10);
  assert.equal(statusOf(fleet).phase, 'Settled');
  return fleet;
}

const statusOf = ({ fleet }: FleetSimulation) => fleet.pools.get('x')?.status ?? {};
const told = (fleet: FleetSimulation, sha256: string): readonly string[] =>
  NAMES.filter((name) => toldTo(fleet, name) === sha256);
const notes = (fleet: FleetSimulation, name: string) => fleet.fleet.kubeletNodes.get(name)?.metadata.annotations;

describe('a label that an expression names', () => {
  it('moves a node to another class ten minutes after it changed, and in its turn', () => {
    const fleet = golden();
    fleet.addNode(of('n0', 'silver'));
    minutes(fleet, 10);
    assert.deepEqual(told(fleet, shaOf('silver')), []);
    const [held] = statusOf(fleet).holds ?? [];
    assert.equal(held?.reason, 'relabelled');
    assert.match(
      held?.message ?? '',
      /another class of machines; it keeps its config until \S+Z, in case they change back$/,
    );
    minutes(fleet, 3);
    assert.deepEqual(told(fleet, shaOf('silver')), ['n0']);
    minutes(fleet, 5);
    assert.equal(provedBy(fleet, 'n0'), shaOf('silver'));
    assert.equal(statusOf(fleet).phase, 'Settled');
    assert.equal(notes(fleet, 'n0')?.[CLASS_LABELS_ANNOTATION], `${TIER}=silver`);
  });

  it('costs nothing where it changes back within ten minutes', () => {
    const fleet = golden();
    fleet.addNode(of('n0', 'silver'));
    minutes(fleet, 9);
    fleet.addNode(of('n0', 'gold'));
    minutes(fleet, 15);
    assert.deepEqual(told(fleet, shaOf('gold')), NAMES);
    assert.equal(fleet.restarts.get('n0'), 1);
    assert.deepEqual(
      Object.keys(notes(fleet, 'n0') ?? {}).filter((name) => name.endsWith('moved-since')),
      [],
    );
  });

  it('begins its ten minutes again where it changes back and forth', () => {
    const fleet = golden();
    for (const tier of ['silver', 'gold', 'silver']) {
      fleet.addNode(of('n0', tier));
      minutes(fleet, 8);
    }
    assert.deepEqual(told(fleet, shaOf('silver')), []);
  });

  it('waits no longer where the reconciler restarts meanwhile, and no less', () => {
    const fleet = golden();
    fleet.addNode(of('n0', 'silver'));
    for (let restart = 0; restart < 5; restart += 1) {
      minutes(fleet, 2);
      fleet.restart();
    }
    assert.deepEqual(told(fleet, shaOf('silver')), []);
    minutes(fleet, 3);
    assert.deepEqual(told(fleet, shaOf('silver')), ['n0']);
  });

  it('waits as long where it changed while nobody led', () => {
    const fleet = golden();
    fleet.restart();
    fleet.addNode(of('n0', 'silver'));
    minutes(fleet, 9);
    assert.deepEqual(told(fleet, shaOf('silver')), []);
  });

  it('changes no node where more are changed than maxUnassign allows, for however long, and says so', () => {
    const fleet = golden();
    for (const name of ['n0', 'n1', 'n2']) fleet.addNode(of(name, 'silver'));
    minutes(fleet, 60);
    assert.deepEqual(told(fleet, shaOf('silver')), []);
    assert.match(
      fleet.reconcile().nodes.labelLoss ?? '',
      /^the labels of 3 of 10 assigned nodes put them into another class of machines \(n0, n1, n2\), no commit does/,
    );
    fleet.addNode(of('n2', 'gold'));
    minutes(fleet, 13);
    assert.deepEqual(told(fleet, shaOf('silver')), ['n0', 'n1']);
  });

  it('may be gone as well', () => {
    const either = `computed: {systemReserved: {memory: '"${TIER}" in labels ? memory * 0.2 : memory * 0.1'}}\n`;
    const fleet = golden(sizedPool(either, ROLLOUT));
    const before = toldTo(fleet, 'n0');
    fleet.addNode(sizedNode('n0', 2, 7.7));
    minutes(fleet, 9);
    assert.equal(toldTo(fleet, 'n0'), before);
    minutes(fleet, 5);
    assert.notEqual(toldTo(fleet, 'n0'), before);
    assert.equal(notes(fleet, 'n0')?.[CLASS_LABELS_ANNOTATION], `!${TIER}`);
  });

  it('is guarded where it tells the architecture, too', () => {
    const byArch = 'computed: {systemReserved: {memory: \'arch == "arm64" ? memory * 0.2 : memory * 0.1\'}}\n';
    const built = (name: string, arch: string): NodeView =>
      sizedNode(name, 2, 7.7, { labels: { pool: 'x', 'kubernetes.io/arch': arch } });
    const fleet = new FleetSimulation();
    for (const name of NAMES) fleet.addNode(built(name, 'amd64'));
    fleet.inForce = commit(COMMIT_A, sizedPool(byArch, ROLLOUT));
    minutes(fleet, 10);
    const before = toldTo(fleet, 'n0');
    fleet.addNode(built('n0', 'arm64'));
    minutes(fleet, 9);
    assert.equal(toldTo(fleet, 'n0'), before);
  });

  it('holds up no commit, and no other change of the machine', () => {
    const fleet = golden();
    const next = sizedPool(BY_TIER.replace('0.2', '0.15'), ROLLOUT);
    fleet.inForce = { ...commit(COMMIT_B, next) };
    minutes(fleet, 5);
    assert.deepEqual(told(fleet, shaFor(next, of('a', 'gold'))), NAMES);
    const grown = (name: string): NodeView => sizedNode(name, 2, 31, { labels: { pool: 'x', [TIER]: 'gold' } });
    for (const name of NAMES) fleet.addNode(grown(name));
    minutes(fleet, 5);
    assert.deepEqual(told(fleet, shaFor(next, grown('a'))), NAMES);
  });

  it('is kept beside the sizes in one write, once the node was told a config of the pool', () => {
    const fleet = new FleetSimulation();
    fleet.addNode(of('n0', 'gold'));
    fleet.inForce = commit(COMMIT_A, byTier());
    fleet.rounds(1);
    assert.equal(notes(fleet, 'n0')?.[CLASS_LABELS_ANNOTATION], undefined);
    minutes(fleet, 5);
    assert.equal(notes(fleet, 'n0')?.[CLASS_LABELS_ANNOTATION], `${TIER}=gold`);
    assert.notEqual(notes(fleet, 'n0')?.[MACHINE_ANNOTATION], undefined);
    assert.deepEqual(
      fleet.reconcile().steps.filter(({ step }) => step === 'remember'),
      [],
    );
  });
});

describe('labels that were kept', () => {
  const rows: readonly (readonly [string, string, readonly string[], NodeView['labels'], readonly string[]])[] = [
    ['are the same', 'a=1,!b', ['a', 'b'], { a: '1', c: '2' }, []],
    ['have another value', 'a=1', ['a'], { a: '2' }, ['a']],
    ['are gone', 'a=1', ['a'], {}, ['a']],
    ['were not there', '!a', ['a'], { a: '' }, ['a']],
    ['have no value', 'a=', ['a'], { a: '' }, []],
    ['are named no longer', 'a=1', ['b'], { a: '2', b: '1' }, []],
    ['are those of somebody who wrote nonsense', 'a', ['a'], { a: '2' }, []],
    ['are those of somebody who wrote more of it', 'ab', ['a'], { a: '2' }, []],
    ['were lost', '', ['a'], { a: '2' }, []],
  ];
  for (const [name, kept, names, labels, changed] of rows) {
    it(name, () => assert.deepEqual(changedLabels(kept, names, labels), changed));
  }

  it('are those that the expressions of the pool name, and none where it has no expressions', () => {
    assert.deepEqual(labelsAsked({ inGit: byTier() }), [TIER]);
    for (const plain of [{}, undefined]) assert.deepEqual(labelsAsked(plain), []);
  });

  it('are written in the order of the names', () => {
    assert.equal(writeClassLabels(['a/x', 'b'], { b: '', 'a/x': '1' }), 'a/x=1,b=');
  });
});
