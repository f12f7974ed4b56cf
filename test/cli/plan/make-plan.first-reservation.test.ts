import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { plain } from '#cli/paint.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import { planNode } from '#cli/plan/plan-node.ts';
import { failuresIn } from '#cli/plan/plan-summary.ts';
import { planAsText } from '#cli/plan/render/text.ts';
import { commit, COMMIT_A, COMMIT_B, validPool } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';
import { inventoryNode } from '../support/inventory-node.ts';

const running = (kube: string, system = '0', eviction = '100Mi') => ({
  maxPods: 110,
  kubeReserved: { memory: kube },
  systemReserved: { memory: system },
  evictionHard: { 'memory.available': eviction },
});
/** 16 GiB; what its own config takes is known from what is left. */
const machine = (name: string, more: Partial<InventoryNode> = {}): InventoryNode =>
  inventoryNode(name, { capacity: { memory: '16Gi' }, allocatable: { memory: '15Gi' }, ...more });

/** The first reservation of a pool that said nothing of any. */
function first(memory: string, ...nodes: readonly InventoryNode[]) {
  const before = validPool('workers', 110);
  const plan = makePlan({
    base: { name: 'base', commit: undefined, repo: commit(COMMIT_A, before).repo, kept: new Map() },
    head: { name: 'head', repo: commit(COMMIT_B, validPool('workers', 110, {}, { kubeReserved: { memory } })).repo },
    cluster: 'demo',
    nodes,
    inForce: undefined,
  });
  return { fields: plan.pools[0]?.fields, failures: failuresIn(plan), text: planAsText(plan, plain) };
}

describe('the first reservation of a pool', () => {
  it('has a bound where what the nodes themselves reserve is unknown', () => {
    const { text, failures } = first('4Gi', machine('w1'));
    const sum = "(capacity 16.0Gi - kubeReserved 4.0Gi; what the node's own config reserves comes on top)";
    assert.ok(text.includes(`allocatable memory: 15.0Gi → at most 12.0Gi ${sum} on w1`), text);
    assert.equal(failures.has('refused'), false);
  });

  it('is refused where even the bound leaves nothing, and not one byte before', () => {
    const { text, failures } = first('40Gi', machine('w1'));
    assert.match(text, /allocatable memory: 15\.0Gi → at most -24\.0Gi /);
    assert.match(text, /w1: nothing is left of its memory: the node would refuse it/);
    assert.ok(failures.has('refused'));
    assert.ok(first('16Gi', machine('w1')).failures.has('refused'));
    assert.equal(first(`${16 * 2 ** 30 - 1}`, machine('w1')).failures.has('refused'), false);
  });

  it('is exact where it is known what the nodes run, and shows each value that it takes the place of', () => {
    const [a, b] = [running('512Mi', '256Mi', '256Mi'), running('2Gi', '0', '0')];
    const nodes = [machine('w1', { running: a }), machine('w2', { running: a }), machine('w3', { running: b })];
    const { text, fields } = first('1Gi', ...nodes);
    assert.deepEqual(
      fields?.map(({ path, before, after }) => [path, before, after]),
      [['kubeReserved.memory', '"512Mi" on 2, "2Gi" on 1', '"1Gi"']],
    );
    assert.match(text, /allocatable memory: 15\.0Gi → 14\.5Gi on w1, w2$/m);
    assert.doesNotMatch(text, /at most 1\d\.\dGi/);
    const some = first('1Gi', machine('w1', { running: a }), machine('w2'));
    assert.equal(some.fields?.[0]?.before, undefined, 'of one node it is not known');
  });

  it('leaves as much as the bound says at most, whatever the nodes run', () => {
    const gi = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(gi, gi, gi, fc.integer({ min: 1, max: 20 }), (kube, system, eviction, asked) => {
        const before = validPool('workers', 110);
        const after = validPool('workers', 110, {}, { kubeReserved: { memory: `${asked}Gi` } });
        const own = running(`${kube}Gi`, `${system}Gi`, `${eviction}Gi`);
        const size = { allocatable: { memory: `${16 - Math.min(15, kube + system + eviction)}Gi` } };
        const [bound] = planNode(machine('w', size), before, after).allocatable;
        const [exact] = planNode(machine('w', { ...size, running: own }), before, after).allocatable;
        if (exact !== undefined) assert.equal(exact.after, (16 - asked - system - eviction) * 2 ** 30);
        if (bound !== undefined && exact !== undefined) assert.ok(exact.after <= bound.after);
        assert.notEqual(bound?.atMost === undefined, bound !== undefined);
        assert.equal(exact?.atMost, undefined);
      }),
    );
  });
});
