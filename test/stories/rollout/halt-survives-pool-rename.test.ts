import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const COMMIT_C = 'c'.repeat(40);
const COMMIT_D = 'd'.repeat(40);
const NODES = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'];
const ALL = { matchLabels: { kind: 'all' } };

/** A pool of six nodes that one of them stopped, by what is done about that. */
class Halted {
  readonly fleet = new FleetSimulation();
  readonly bad: ValidPool;
  readonly rollout: RolloutSpec;

  constructor(action: 'halt' | 'revert') {
    this.rollout = { maxUnavailable: 1, probation: 'full', soak: '0s', onFailure: { threshold: 1, action } };
    for (const name of NODES) {
      this.fleet.addNode(nodeView(name, '', { labels: { side: name.slice(0, 1), kind: 'all' } }));
    }
    this.commit(COMMIT_A, this.pool('general', 100, ALL));
    this.bad = this.pool('general', 666, ALL);
    this.fleet.deadly.add(this.bad.sha256);
    this.commit(COMMIT_B, this.bad);
    assert.deepEqual([this.phases(['general']), this.exposed()], [['Halted'], ['a1']]);
  }

  pool(name: string, maxPods: number, nodeSelector: ValidPool['spec']['nodeSelector']): ValidPool {
    return validPool(name, maxPods, { rollout: this.rollout, nodeSelector });
  }

  side(name: string, maxPods = 666): ValidPool {
    return this.pool(name, maxPods, { matchLabels: { side: name.slice(0, 1) } });
  }

  /** With a new reconciler every other minute. */
  commit(oid: string, ...pools: readonly ValidPool[]): void {
    this.fleet.inForce = commit(oid, ...pools);
    this.pass();
  }

  pass(): void {
    for (let minute = 0; minute < 40; minute += 1) {
      if (minute % 2 === 1) this.fleet.restart();
      this.fleet.rounds(1);
      this.fleet.now += MINUTE;
    }
  }

  phases(names: readonly string[]): readonly (string | undefined)[] {
    return names.map((name) => this.fleet.fleet.pools.get(name)?.status?.phase);
  }

  /** Every node that was ever told the config that no kubelet survives. */
  exposed(): readonly string[] {
    return [...(this.fleet.exposed.get(this.bad.sha256) ?? [])];
  }

  starts(): readonly number[] {
    return NODES.map((name) => this.fleet.restarts.get(name) ?? 0);
  }
}

describe('a payload that stopped a pool', () => {
  for (const action of ['halt', 'revert'] as const) {
    it(`is told to no other node because the pool was renamed (${action})`, () => {
      const world = new Halted(action);
      const starts = world.starts();
      world.commit(COMMIT_C, world.pool('general-v2', 666, ALL));
      assert.deepEqual(world.phases(['general', 'general-v2']), [undefined, 'Halted']);
      assert.deepEqual([world.exposed(), world.starts()], [['a1'], starts]);
    });

    it(`is told to no other node because the pool was split in two (${action})`, () => {
      const world = new Halted(action);
      const starts = world.starts();
      world.commit(COMMIT_C, world.side('a-side'), world.side('b-side'));
      assert.deepEqual(world.phases(['general', 'a-side', 'b-side']), [undefined, 'Halted', 'Halted']);
      assert.deepEqual([world.exposed(), world.starts()], [['a1'], starts]);
    });

    it(`is told to no other node because some of the pool were taken out of it (${action})`, () => {
      const world = new Halted(action);
      const starts = world.starts();
      const special = world.side('b-side');
      world.commit(COMMIT_C, world.bad, { ...special, spec: { ...special.spec, priority: 200 } });
      assert.deepEqual(world.phases(['general', 'b-side']), ['Halted', 'Halted']);
      assert.deepEqual([world.exposed(), world.starts()], [['a1'], starts]);
    });
  }

  it('stops a part of it until that gets another one, or somebody lets it go on', () => {
    const world = new Halted('halt');
    world.commit(COMMIT_C, world.side('a-side'), world.side('b-side'));
    world.commit(COMMIT_D, world.side('a-side', 120), world.side('b-side'));
    assert.deepEqual(world.phases(['a-side', 'b-side']), ['Settled', 'Halted']);
    const halt = world.fleet.fleet.pools.get('b-side')?.status?.halt;
    assert.ok(halt !== undefined);
    world.fleet.deadly.clear();
    world.fleet.annotatePool('b-side', { [RELEASE_ANNOTATION]: releaseValue(halt) });
    world.pass();
    assert.deepEqual(world.phases(['a-side', 'b-side']), ['Settled', 'Settled']);
  });

  it('does not stop those that get another one with their new name', () => {
    const world = new Halted('halt');
    world.commit(COMMIT_C, world.side('a-side', 120), world.side('b-side', 130));
    assert.deepEqual(world.phases(['general', 'a-side', 'b-side']), [undefined, 'Settled', 'Settled']);
  });
});
