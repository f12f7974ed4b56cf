import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const REVERT: RolloutSpec = {
  maxUnavailable: 1,
  probation: 'full',
  soak: '0s',
  onFailure: { threshold: 1, action: 'revert' },
};
const where = (side: string) => ({ matchLabels: { side } });
const named = (name: string, maxPods: number, side: string, rollout = REVERT): ValidPool =>
  validPool(name, maxPods, { rollout, nodeSelector: where(side) });

/** Restarts of kubelets are starts of another config. */
class Renamed {
  readonly fleet = new FleetSimulation();
  readonly restarts: string[] = [];

  constructor(nodes: readonly string[], ...pools: readonly ValidPool[]) {
    for (const name of nodes) {
      const labels = { side: name.slice(0, 1), kind: 'all' };
      this.fleet.addNode(nodeView(name, '', { labels }));
    }
    this.commit(COMMIT_A, ...pools);
    this.rounds(20);
    this.restarts.length = 0;
  }

  commit(oid: string, ...pools: readonly ValidPool[]): void {
    this.fleet.inForce = commit(oid, ...pools);
  }

  rounds(count: number): void {
    for (let round = 0; round < count; round += 1) {
      this.fleet.reconcile();
      for (const name of this.fleet.fleet.nodes.keys()) {
        const before = runs(this.node(name));
        this.fleet.agentStep(name);
        const after = runs(this.node(name));
        if (before !== after) this.restarts.push(`${name} ${after}`);
      }
    }
  }

  node(name: string): KubeletNode | undefined {
    return this.fleet.fleet.kubeletNodes.get(name);
  }

  running(): readonly (string | undefined)[] {
    return [...this.fleet.fleet.kubeletNodes.values()].map(runs);
  }

  /** Every assignment that is another config than this one. */
  told(): readonly string[] {
    return [...this.fleet.fleet.kubeletNodes.values()].map(({ spec }) => spec?.configSource?.name ?? 'local');
  }
}

const runs = (node: KubeletNode | undefined): string => node?.status?.active?.name ?? 'local';
const three = (config: ValidPool): readonly string[] => [config.configName, config.configName, config.configName];

describe('a payload that is taken back in a pool', () => {
  const old = named('general', 100, 'a');
  const bad = named('general-v2', 666, 'a');

  it('that was renamed with it leaves its nodes with what they ran under the old name', () => {
    const world = new Renamed(['a1', 'a2', 'a3'], old);
    world.fleet.deadly.add(bad.sha256);
    world.commit(COMMIT_B, bad);
    world.rounds(20);
    assert.equal(world.fleet.fleet.pools.get('general-v2')?.status?.halt?.action, 'revert');
    assert.deepEqual(world.told(), three(old));
    assert.deepEqual(world.running(), three(old));
    assert.deepEqual(world.restarts, [`a1 ${bad.configName}`, `a1 ${old.configName}`]);
    assert.equal(world.fleet.fleet.pools.has('general'), false);
  });

  it('that was renamed, from nodes that have proven it, goes back to what they ran under the old name', () => {
    const patient: RolloutSpec = { ...REVERT, maxUnavailable: 2, onFailure: { threshold: 2, action: 'revert' } };
    const late = named('general-v2', 666, 'a', patient);
    const world = new Renamed(['a1', 'a2', 'a3', 'a4'], named('general', 100, 'a', patient));
    world.commit(COMMIT_B, late);
    world.rounds(3);
    const proved = [...world.fleet.fleet.kubeletNodes.values()].filter(
      ({ status }) => status?.lastKnownGood?.sha256 === late.sha256,
    );
    assert.equal(proved.length, 2, 'some kubelets live with it');
    world.fleet.deadly.add(late.sha256);
    world.rounds(20);
    assert.deepEqual(new Set(world.running()), new Set([old.configName]));
    assert.deepEqual(new Set(world.told()), new Set([old.configName]));
  });

  it('that was split from another one leaves its nodes with what they ran there', () => {
    const both = validPool('general', 100, { rollout: REVERT, nodeSelector: { matchLabels: { kind: 'all' } } });
    const world = new Renamed(['a1', 'a2', 'b1', 'b2'], both);
    const split = { ...named('special', 666, 'b'), spec: { ...named('special', 666, 'b').spec, priority: 10 } };
    world.fleet.deadly.add(split.sha256);
    world.commit(COMMIT_B, both, split);
    world.rounds(20);
    assert.notEqual(world.fleet.fleet.pools.get('special')?.status?.halt, undefined);
    assert.deepEqual(new Set(world.running()), new Set([both.configName]));
    assert.equal(
      world.restarts.some((restart) => restart.endsWith(' local')),
      false,
    );
  });

  for (const atOnce of [1, 2]) {
    it(`that nodes of two pools were merged into leaves each with what it ran, ${atOnce} at a time`, () => {
      const rollout: RolloutSpec = {
        ...REVERT,
        maxUnavailable: atOnce,
        onFailure: { threshold: atOnce, action: 'revert' },
      };
      const [one, other] = [named('general', 100, 'a', rollout), named('other', 90, 'b', rollout)];
      const world = new Renamed(['a1', 'b1'], one, other);
      const merged = validPool('merged', 666, { rollout, nodeSelector: { matchLabels: { kind: 'all' } } });
      world.fleet.deadly.add(merged.sha256);
      world.commit(COMMIT_B, merged);
      world.rounds(20);
      assert.deepEqual(world.running(), [one.configName, other.configName]);
      assert.deepEqual(world.told(), [one.configName, other.configName]);
      assert.equal(world.restarts.length, 2 * atOnce, 'each that tries it falls back once');
    });
  }

  it('that is the first that its nodes ever had sends them back to their local config, who proved it as well', () => {
    const patient: RolloutSpec = { ...REVERT, maxUnavailable: 2, onFailure: { threshold: 2, action: 'revert' } };
    const first = named('general', 666, 'a', patient);
    const world = new Renamed(['a1', 'a2', 'a3', 'a4'], named('unused', 1, 'x'));
    world.commit(COMMIT_B, first);
    world.rounds(3);
    assert.ok(world.running().includes(first.configName), 'some kubelets live with it');
    world.fleet.deadly.add(first.sha256);
    world.rounds(20);
    assert.notEqual(world.fleet.fleet.pools.get('general')?.status?.halt, undefined);
    assert.deepEqual(new Set([...world.running(), ...world.told()]), new Set(['local']));
  });

  it('is known to go back to what was brought along though the first record of that was lost', () => {
    const world = new Renamed(['a1', 'a2', 'a3'], old);
    world.commit(COMMIT_B, bad);
    for (let pass = 0; pass < 3; pass += 1) world.fleet.reconcile();
    assert.ok(world.told().includes(bad.configName));
    const { fleet } = world.fleet;
    const { status: _, ...unwritten } = fleet.pools.get('general-v2') ?? { metadata: { name: '' } };
    world.fleet.fleet = { ...fleet, pools: new Map([...fleet.pools, ['general-v2', unwritten]]) };
    world.fleet.restart();
    const { proof } = world.fleet.reconcile().pools.get('general-v2') ?? {};
    assert.equal(proof?.payloads[proof.classes[0]?.proven ?? -1], old.sha256);
  });

  it('that only applies it in another way leaves its nodes with the way that they had', () => {
    const laid = named('general', 100, 'a');
    const replaced = { ...laid, spec: { ...laid.spec, apply: 'replace' as const } };
    const world = new Renamed(['a1', 'a2', 'a3'], laid);
    world.commit(COMMIT_B, replaced);
    world.fleet.reconcile();
    world.fleet.deadly.add(laid.sha256);
    world.rounds(20);
    world.fleet.deadly.clear();
    world.rounds(20);
    assert.notEqual(world.fleet.fleet.pools.get('general')?.status?.halt, undefined);
    const ways = [...world.fleet.fleet.kubeletNodes.values()].map(({ spec }) => spec?.apply);
    assert.deepEqual(ways, ['overlay', 'overlay', 'overlay']);
    assert.deepEqual(world.fleet.reconcile().steps, []);
  });
});
