import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SelectingPool, membersOfPools, isStillValid } from '#reconciler/policy/pool-members.ts';
import { nodeView, poolSpec } from '../../support/fleet.ts';

const selecting = (name: string): SelectingPool => ({
  name,
  spec: poolSpec({ nodeSelector: { matchLabels: { pool: name } } }),
});
const [WORKERS, GPU] = [selecting('workers'), selecting('gpu')];

describe('the nodes of pools', () => {
  it('are those that one of them selects, in the order of the fleet', () => {
    const nodes = [nodeView('a', 'gpu'), nodeView('b', 'workers'), nodeView('c', 'others'), nodeView('d', 'gpu')];
    const { choices, members } = membersOfPools([WORKERS, GPU, selecting('empty')], {
      nodes: new Map(nodes.map((node) => [node.name, node])),
    });
    assert.deepEqual(
      [...members].map(([name, own]) => [name, own.map((node) => node.name)]),
      [
        ['workers', ['b']],
        ['gpu', ['a', 'd']],
        ['empty', []],
      ],
    );
    assert.deepEqual(choices.get('c'), { choice: 'none' });
  });

  const rows: readonly (readonly [string, readonly SelectingPool[], boolean])[] = [
    ['hold for the same pools', [{ ...WORKERS }, { ...GPU }], true],
    ['do not hold where one of them has another spec', [WORKERS, { ...GPU, spec: { ...GPU.spec } }], false],
    ['do not hold where one of them has another name', [WORKERS, { ...GPU, name: 'gpus' }], false],
    ['do not hold where one is gone', [WORKERS], false],
    ['do not hold where one is new', [WORKERS, GPU, selecting('new')], false],
    ['do not hold where all are others', [selecting('a'), selecting('b')], false],
  ];
  for (const [name, others, holds] of rows) {
    it(name, () => {
      const known = membersOfPools([WORKERS, GPU], { nodes: new Map() });
      assert.equal(isStillValid(known, others), holds);
    });
  }
});
