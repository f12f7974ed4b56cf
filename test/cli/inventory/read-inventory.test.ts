import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodesFrom } from '#cli/inventory/read-inventory.ts';

const node = (name: string) => ({ kind: 'Node', metadata: { name }, status: { capacity: { cpu: '4' } } });
const knode = (name: string, numaNodes?: unknown) => ({
  kind: 'KubeletNode',
  metadata: { name },
  status: numaNodes === undefined ? {} : { numaNodes },
});

describe('an inventory', () => {
  it('has what agents say of their machines where KubeletNodes are among its objects', () => {
    const found = nodesFrom([
      node('b'),
      knode('b', 2),
      knode('a', 'many'),
      node('a'),
      knode('c', 4),
      node('d'),
      knode('d'),
    ]);
    assert.deepEqual(
      found.map(({ name, numaNodes }) => [name, numaNodes]),
      [
        ['a', undefined],
        ['b', 2],
        ['d', undefined],
      ],
    );
  });
});
