import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { minutes } from './support/drive-fleet.ts';
import { shaFor, sizedNode, sizedPool, toldTo } from '../../support/rollout/sized-pool.ts';

const SMALL = Array.from({ length: 10 }, (_, index) => sizedNode(`small-${index}`, 4, 16));
const LARGE = Array.from({ length: 10 }, (_, index) => sizedNode(`large-${index}`, 16, 64));
const [small, large] = [sizedNode('one', 4, 16), sizedNode('other', 16, 64)];

/** What small and large machines reserve, in GiB. */
const reserving = (ofSmall: number, ofLarge: number, rollout: string): ValidPool =>
  sizedPool(
    `computed: {systemReserved: {memory: 'memory < quantity("32Gi") ? quantity("${ofSmall}Gi") : quantity("${ofLarge}Gi")'}}\n`,
    rollout,
  );

/** Small machines die of 4 GiB, which large ones have had for long. */
function raise(rollout: string, ofLarge: number) {
  const fleet = new FleetSimulation();
  for (const node of [...SMALL, ...LARGE]) fleet.addNode(node);
  fleet.inForce = commit(COMMIT_A, reserving(1, 4, rollout));
  minutes(fleet, 120, 1);
  assert.equal(fleet.fleet.pools.get('x')?.status?.phase, 'Settled');
  const next = reserving(4, ofLarge, rollout);
  const [deadly, fine] = [shaFor(next, small), shaFor(next, large)];
  const isSmall = (name: string): boolean => name.startsWith('small');
  let most = 0;
  const died = new Set<string>();
  fleet.inForce = commit(COMMIT_B, next);
  const onTrial = (): number => SMALL.filter(({ name }) => toldTo(fleet, name) === deadly && !died.has(name)).length;
  for (let minute = 0; minute < 240; minute += 1) {
    fleet.reconcile();
    most = Math.max(most, onTrial());
    // The same bytes harm the one class alone.
    for (const name of fleet.fleet.nodes.keys()) {
      if (isSmall(name)) fleet.deadly.add(deadly);
      else fleet.deadly.delete(deadly);
      fleet.agentStep(name);
      if (isSmall(name) && (fleet.fleet.kubeletNodes.get(name)?.status?.rejected ?? []).length > 0) died.add(name);
    }
    fleet.now += 60_000;
  }
  const large0 = LARGE.filter(({ name }) => toldTo(fleet, name) === fine).length;
  return { most, died: died.size, large: large0, phase: fleet.fleet.pools.get('x')?.status?.phase };
}

describe('what large machines have proven', () => {
  for (const [name, rollout, ofLarge] of [
    ['the bytes that they had before', '{maxUnavailable: 20}', 5],
    ['the same bytes, which they keep', '{maxUnavailable: 20}', 4],
    ['with a bound of what is on trial', '{maxUnavailable: 20, maxOnTrial: 2}', 5],
    ['with canaries of the pool', '{maxUnavailable: 20, canary: {nodes: 2}}', 5],
    ['with a full probation', '{maxUnavailable: 20, probation: full}', 5],
  ] as const) {
    it(`is proven for no small one: ${name}`, () => {
      const { most, died, phase } = raise(rollout, ofLarge);
      const canaries = rollout.includes('canary') ? 2 : 1;
      assert.ok(most <= canaries, `${most} small machines tried it at once`);
      assert.ok(died >= 1 && died <= canaries, `${died} died`);
      assert.equal(phase, 'Halted');
    });
  }
});
