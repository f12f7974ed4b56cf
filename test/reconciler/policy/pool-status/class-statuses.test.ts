import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { classStatuses } from '#reconciler/policy/pool-status/class-statuses.ts';
import type { PayloadClass } from '#reconciler/policy/payload-classes.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

const config = { name: 'x-1', sha256: 'e' };
const target = { sha256: '', apply: 'overlay' } as const;
const refused = (name: string): PayloadClass => ({ name, config: null, target, because: 'no' });

/** The classes of nodes `n0`, `n1` and so on. */
function statuses(classes: readonly PayloadClass[], members: readonly Member[] = []) {
  const byNode = new Map(classes.map((each, index) => [`n${index}`, each]));
  return classStatuses({ byNode, nodes: new Map(), configs: new Map(), values: new Map(), sizes: new Map() }, members);
}

describe('the classes in a status', () => {
  const sized = (count: number) => {
    const classes = Array.from({ length: count }, (_, index) => refused(`c${String(index).padStart(2, '0')}`));
    // The last class has two nodes.
    return statuses([...classes, ...classes.slice(-1)]);
  };

  it('are the fifty with the most nodes, those with as many by their names', () => {
    assert.deepEqual(sized(3), [
      { name: 'c02', nodes: 2, message: 'no' },
      { name: 'c00', nodes: 1, message: 'no' },
      { name: 'c01', nodes: 1, message: 'no' },
    ]);
    assert.deepEqual(
      statuses([refused('b'), refused('a')]).map(({ name }) => name),
      ['a', 'b'],
    );
    assert.equal(sized(50).length, 50);
    const names = sized(51).map(({ name }) => name);
    assert.deepEqual([names.length, names[0], names.includes('c49')], [50, 'c50', false]);
  });

  it('say how many of their nodes run what they get', () => {
    const given: PayloadClass = { name: 'a', config, target: { ...target, sha256: 'e' }, because: '' };
    const { settled, soaking, changing, outdated, failed, silent, awaitsTurn } = LIFECYCLE;
    const standings = [settled, soaking, changing, outdated, failed, silent, awaitsTurn];
    const members = standings.map((lifecycle, index) => ({
      ...memberOf(nodeView(`n${index}`, 'x'), undefined, null, 0, NOW),
      lifecycle,
    }));
    assert.deepEqual(
      statuses(
        standings.map(() => given),
        members,
      ),
      [{ name: 'a', nodes: 7, updated: 3, configName: 'x-1', sha256: 'e' }],
    );
  });
});
