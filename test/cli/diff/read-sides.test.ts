import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sidesOfNode, sidesOfPool } from '#cli/diff/read-sides.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import { configSource, nodeView, poolInCluster, recordOf, settledNode, validPool } from '../../support/fleet.ts';

const [small, large, newSmall, newLarge] = [10, 100, 12, 120].map((maxPods) => validPool('workers', maxPods)) as [
  ReturnType<typeof validPool>,
  ReturnType<typeof validPool>,
  ReturnType<typeof validPool>,
  ReturnType<typeof validPool>,
];
const sources = [small, large, newSmall, newLarge].map((pool) => configSource(pool));
const named = ({ configName, sha256 }: ReturnType<typeof validPool>) => ({ configName, sha256 });
const pool = poolInCluster(validPool('workers', 1), {
  proof: writeProof([recordOf('s', small.sha256), recordOf('l', large.sha256)]),
  classes: [
    { name: 's', nodes: 1, ...named(newSmall) },
    { name: 'l', nodes: 1, ...named(newLarge) },
    { name: 'none', nodes: 1, message: 'too small' },
  ],
});
const namesOf = ({ name, settled, wanted }: ReturnType<typeof sidesOfNode>) => [name, settled.name, wanted.name];

describe('the two sides of a pool with computed values', () => {
  it('are those of each class of machines that has a config', () => {
    assert.deepEqual(sidesOfPool(pool, sources).map(namesOf), [
      ['s', small.configName, newSmall.configName],
      ['l', large.configName, newLarge.configName],
    ]);
  });

  it('are those of the class that a node has the config of, old or new', () => {
    const node = nodeView('n', 'workers');
    assert.deepEqual(namesOf(sidesOfNode(settledNode(node, large), pool, sources)), [
      'l',
      large.configName,
      newLarge.configName,
    ]);
    assert.deepEqual(namesOf(sidesOfNode(settledNode(node, newSmall), pool, sources)), [
      's',
      small.configName,
      newSmall.configName,
    ]);
  });

  it('are what the node was told, where its pool is not there', () => {
    const told = settledNode(nodeView('n', 'workers'), small);
    assert.deepEqual(namesOf(sidesOfNode(told, undefined, sources)), ['', small.configName, small.configName]);
  });
});
