import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { large, shaFor, sizedPool, small, toldTo } from '../../../support/rollout/sized-pool.ts';

const NODES = Array.from({ length: 10 }, (_, index) => `n${index}`);
const { rollout } = poolSpec();
const LOOSE: Partial<KubeletPoolSpec> = {
  rollout: { ...rollout, maxUnavailable: '100%', onFailure: { threshold: 1000, action: 'halt' } },
  trial: { duration: '1s', startTimeout: '8784h', maxRestarts: 1000 },
};

/** Ten nodes of the pool that have proven the first of these configs. */
function settledOn(pool: ValidPool, oid = 'first'): FleetSimulation {
  const sim = new FleetSimulation();
  for (const name of NODES) sim.addNode(nodeView(name, pool.name));
  sim.inForce = commit(oid, pool);
  sim.rounds(40);
  assert.equal(sim.fleet.pools.get(pool.name)?.status?.phase, 'Settled');
  return sim;
}

const told = (sim: FleetSimulation, { sha256 }: ValidPool): number => sim.exposed.get(sha256)?.size ?? 0;
const inCluster = (sim: FleetSimulation, pool = 'workers') => sim.fleet.pools.get(pool);
const isHeld = (sim: FleetSimulation, pool = 'workers'): boolean =>
  (inCluster(sim, pool)?.status?.conditions ?? []).some(({ message }) => message.includes('limit-not-yet'));

/** Puts a commit into force and lets two passes go by, without any agent. */
function push(sim: FleetSimulation, oid: string, ...pools: readonly ValidPool[]): void {
  sim.inForce = commit(oid, ...pools);
  sim.reconcile();
  sim.reconcile();
}

const [old, next] = [validPool('workers', 100), validPool('workers', 110)];
const loose = validPool('workers', 110, LOOSE);

describe('a commit that changes what nodes run is held to the limits before it', () => {
  it('where it loosens them at once, and says so', () => {
    const sim = settledOn(old);
    push(sim, 'second', loose);
    const { trial } =
      [...sim.fleet.kubeletNodes.values()].find(({ spec }) => spec?.configSource?.sha256 === loose.sha256)?.spec ?? {};
    assert.deepEqual([told(sim, loose), trial, isHeld(sim)], [1, DEFAULT_TRIAL, true]);
    const why = inCluster(sim)?.status?.conditions?.find(({ type }) => type === 'ConfigValid')?.message ?? '';
    assert.match(why, /loosens rollout\.maxUnavailable, rollout\.onFailure, trial\.duration, trial\.startTimeout/);
  });

  it('and not where it only loosens them: what the next one changes goes by them', () => {
    const sim = settledOn(old);
    push(sim, 'second', validPool('workers', 100, LOOSE));
    assert.equal(inCluster(sim)?.spec?.rollout.maxUnavailable, '100%');
    sim.rounds(2);
    push(sim, 'third', loose);
    assert.deepEqual([told(sim, loose), isHeld(sim)], [10, false]);
  });

  it('nor where it only loosens them while nodes have yet to prove what the commit before gives them', () => {
    const sim = settledOn(old);
    push(sim, 'second', next);
    assert.equal(told(sim, next), 1);
    push(sim, 'third', loose);
    assert.deepEqual([told(sim, next), isHeld(sim)], [10, false]);
  });

  it('nor where it tightens them', () => {
    const sim = settledOn(validPool('workers', 100, LOOSE));
    push(sim, 'second', next);
    assert.deepEqual([told(sim, next), isHeld(sim)], [1, false]);
  });

  it('until the nodes have proven it', () => {
    const sim = settledOn(old);
    push(sim, 'second', loose);
    sim.rounds(19);
    assert.deepEqual([told(sim, loose), isHeld(sim)], [10, true]);
    sim.rounds(10);
    assert.deepEqual([inCluster(sim)?.spec, isHeld(sim)], [loose.spec, false]);
    sim.restart();
    sim.rounds(2);
    assert.deepEqual([inCluster(sim)?.spec, isHeld(sim)], [loose.spec, false]);
  });

  it('until another commit is in force', () => {
    const sim = settledOn(old);
    push(sim, 'second', loose);
    push(sim, 'third', validPool('workers', 110, LOOSE));
    assert.deepEqual([told(sim, loose), isHeld(sim)], [10, false]);
  });

  it('that is held in turn to what that one says, where it changes the config again', () => {
    const sim = settledOn(old);
    push(sim, 'second', loose);
    const looser = validPool('workers', 120, { ...LOOSE, rollout: { ...rollout, maxUnavailable: 3 } });
    push(sim, 'third', looser);
    assert.equal(inCluster(sim)?.spec?.rollout.maxUnavailable, 3);
  });

  for (const [when, passes] of [
    ['before the first pass', 0],
    ['after it', 1],
    ['later', 2],
  ] as const) {
    it(`by another process as well, that begins ${when}`, () => {
      const sim = settledOn(old);
      sim.inForce = commit('second', loose);
      for (let pass = 0; pass < passes; pass += 1) sim.reconcile();
      sim.restart();
      for (let pass = 0; pass < 3; pass += 1) sim.reconcile();
      assert.deepEqual([told(sim, loose), isHeld(sim)], [1, true]);
      sim.restart();
      push(sim, 'third', validPool('workers', 120, LOOSE));
      assert.equal(told(sim, validPool('workers', 120)) <= 1, true, 'and by one that never read it');
    });
  }

  it('also for nodes that join a pool without any', () => {
    const sim = settledOn(old);
    for (const name of NODES) sim.removeNode(name);
    push(sim, 'second', loose);
    sim.rounds(3);
    assert.deepEqual([inCluster(sim)?.status?.phase, inCluster(sim)?.spec?.rollout.maxUnavailable], ['Empty', 1]);
  });

  it('whatever others write into the KubeletPool meanwhile', () => {
    const sim = settledOn(old);
    push(sim, 'second', loose);
    const present = inCluster(sim);
    const proof = {
      payloads: [loose.sha256],
      commits: ['second'],
      times: ['2026-11-21T12:00:00Z'],
      classes: [{ name: '', state: 'proven', since: 0, current: 0, proven: 0, nodes: 10, proved: 10 }],
    } as const;
    const { counts } = present?.status ?? {};
    const finished = present?.status?.rollout && { ...present.status.rollout, finishedAt: '2026-11-21T12:00:00Z' };
    const status = {
      ...present?.status,
      proof,
      ...(counts && { counts: { ...counts, pending: 0 } }),
      ...(finished && { rollout: finished }),
    };
    const metadata = present?.metadata ?? { name: 'workers' };
    sim.fleet = { ...sim.fleet, pools: new Map([['workers', { metadata, spec: loose.spec, status }]]) };
    sim.reconcile();
    sim.reconcile();
    assert.deepEqual([told(sim, loose), inCluster(sim)?.spec?.rollout.maxUnavailable], [1, 1]);
  });

  it('where it changes how the payload is applied', () => {
    const sim = settledOn(old);
    const replacing = validPool('workers', 100, { ...LOOSE, apply: 'replace' });
    push(sim, 'second', replacing);
    const changed = [...sim.fleet.kubeletNodes.values()].filter(({ spec }) => spec?.apply === 'replace');
    assert.deepEqual([changed.length, isHeld(sim)], [1, true]);
  });

  it('and is not held by what lets one node more or less be changed: an emergency, nodes that are not Ready', () => {
    const sim = settledOn(old);
    const urgent = { ...rollout, notReadyNodes: 'change', emergency: 'it burns' } as const;
    push(sim, 'second', validPool('workers', 110, { rollout: urgent }));
    assert.deepEqual([inCluster(sim)?.spec?.rollout, isHeld(sim)], [urgent, false]);
  });
});

const where = (side: string) => ({ matchLabels: { side } });
const ALL = { matchExpressions: [{ key: 'side', operator: 'Exists' }] } as const;

/** Five nodes on each of two sides, of these pools. */
function sides(...pools: readonly ValidPool[]): FleetSimulation {
  const sim = new FleetSimulation();
  for (const [index, name] of NODES.entries())
    sim.addNode(nodeView(name, '', { labels: { side: index < 5 ? 'a' : 'b' } }));
  sim.inForce = commit('first', ...pools);
  sim.rounds(40);
  assert.equal(
    [...sim.fleet.kubeletNodes.values()].every(({ status }) => status?.phase === 'Idle'),
    true,
  );
  return sim;
}

describe('a new pool begins with the strictest limits of those that its nodes come from', () => {
  const strict = validPool('strict', 100, { nodeSelector: where('a') });
  const lenient = validPool('lenient', 90, { ...LOOSE, nodeSelector: where('b') });

  it('where it was renamed', () => {
    const renamed = validPool('renamed', 110, { ...LOOSE, nodeSelector: where('a') });
    const sim = sides(strict);
    push(sim, 'second', renamed);
    assert.deepEqual([told(sim, renamed), isHeld(sim, 'renamed')], [1, true]);
    sim.restart();
    for (let pass = 0; pass < 3; pass += 1) sim.reconcile();
    assert.equal(told(sim, renamed), 1);
  });

  it('and with one canary where none of its nodes is among theirs', () => {
    const canary = { selector: { matchLabels: { canary: 'yes' } }, soak: '1h' };
    const sim = sides(strict);
    push(sim, 'second', validPool('strict', 100, { nodeSelector: where('a'), rollout: { ...rollout, canary } }));
    push(sim, 'third', validPool('renamed', 110, { ...LOOSE, nodeSelector: where('a') }));
    assert.deepEqual(inCluster(sim, 'renamed')?.spec?.rollout.canary, { nodes: 1, soak: '1h' });
  });

  it('where several became one', () => {
    const merged = validPool('merged', 110, { ...LOOSE, nodeSelector: ALL });
    const sim = sides(strict, lenient);
    push(sim, 'second', merged);
    assert.equal(told(sim, merged), 1);
  });

  it('and with its own where they had no config of ours', () => {
    const sim = sides(strict);
    push(sim, 'second', strict, lenient);
    assert.deepEqual([told(sim, lenient), isHeld(sim, 'lenient')], [5, false]);
  });

  it('and one that was there, and selects more nodes, may not have more of them unavailable at once, though it has proven what they get', () => {
    const first = validPool('strict', 100, { nodeSelector: where('a') });
    const sim = sides(first);
    push(sim, 'second', validPool('strict', 100, { ...LOOSE, nodeSelector: ALL }));
    assert.deepEqual([told(sim, first), isHeld(sim, 'strict')], [6, true]);
    const { rollout: held, ...spec } = inCluster(sim, 'strict')?.spec ?? poolSpec();
    assert.deepEqual([held.maxUnavailable, held.onFailure, spec.trial], [1, LOOSE.rollout?.onFailure, LOOSE.trial]);
    sim.rounds(20);
    assert.deepEqual([told(sim, first), isHeld(sim, 'strict')], [10, false]);
  });

  it('as does one that was there, of the nodes that a commit moves into it, until they have proven it', () => {
    const loose = (selector: object): ValidPool => validPool('lenient', 120, { ...LOOSE, nodeSelector: selector });
    const sim = sides(strict, loose(where('b')));
    push(sim, 'second', loose(ALL));
    const { maxUnavailable } = inCluster(sim, 'lenient')?.spec?.rollout ?? {};
    assert.deepEqual([maxUnavailable, isHeld(sim, 'lenient')], [1, true]);
    sim.rounds(1);
    assert.equal(
      told(sim, loose(ALL)) <= 7,
      true,
      'the pool has proven it, and one more may be unavailable in each pass',
    );
    sim.rounds(30);
    assert.deepEqual([told(sim, loose(ALL)), isHeld(sim, 'lenient')], [10, false]);
  });

  it('also by canaries of the pool that they come from, where they get what nobody has proven', () => {
    const canary = { nodes: 1, soak: '1h' };
    const careful = validPool('strict', 100, { nodeSelector: where('a'), rollout: { ...rollout, canary } });
    const sim = sides(careful, lenient);
    sim.now += 3_600_000;
    sim.rounds(2);
    const moved = validPool('lenient', 120, { ...LOOSE, nodeSelector: ALL });
    push(sim, 'second', moved);
    assert.deepEqual([told(sim, moved) <= 1, inCluster(sim, 'lenient')?.spec?.rollout.canary], [true, canary]);
    sim.restart();
    sim.rounds(6);
    const held = inCluster(sim, 'lenient')?.spec?.rollout.canary;
    assert.deepEqual([told(sim, moved), held], [1, canary], 'for another process as well');
  });
});

describe('a pool that computes what it gives machines', () => {
  const at = (percent: string, more: string, own?: string): ValidPool =>
    sizedPool(`computed: {systemReserved: {memory: 'memory * ${percent}'}}\n`, more, own);

  it('is held to the limits before a commit in the same way', () => {
    const sim = new FleetSimulation();
    for (const name of NODES) sim.addNode(Number(name.slice(1)) < 5 ? small(name) : large(name));
    sim.inForce = commit('first', at('0.1', '{maxUnavailable: 1}'));
    sim.rounds(40);
    assert.equal(inCluster(sim, 'x')?.status?.phase, 'Settled');
    const has = (pool: ValidPool): number =>
      [...sim.fleet.nodes.values()].filter((node) => toldTo(sim, node.name) === shaFor(pool, node)).length;
    const next = at('0.2', '{maxUnavailable: "100%", maxOnTrial: "100%", onFailure: {threshold: 1000}}');
    push(sim, 'second', next);
    assert.deepEqual([has(next), isHeld(sim, 'x'), inCluster(sim, 'x')?.spec?.rollout.maxUnavailable], [1, true, 1]);
    sim.restart();
    for (let pass = 0; pass < 3; pass += 1) sim.reconcile();
    assert.deepEqual([has(next), isHeld(sim, 'x')], [1, true]);
    sim.rounds(60);
    assert.deepEqual(
      [has(next), isHeld(sim, 'x'), inCluster(sim, 'x')?.spec?.rollout.maxUnavailable],
      [10, false, '100%'],
    );
  });
});
