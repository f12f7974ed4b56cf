import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatConflicts, conflictsAmong } from '#reconciler/policy/pool-selection/conflict-lines.ts';

const wanted = (node: string, ...pools: readonly string[]) => ({ node, pools });

describe('what is said of nodes that two pools want', () => {
  it('names one node', () =>
    assert.deepEqual(formatConflicts([wanted('a', 'gpu', 'web')]), [
      'node a is left as it is: gpu and web select it with the same priority. Give one of the pools a higher one',
    ]));

  it('is one line for many nodes of the same pools', () => {
    const many = Array.from({ length: 500 }, (_, index) => wanted(`n-${index}`, 'gpu', 'web'));
    assert.deepEqual(formatConflicts([...many, wanted('z', 'gpu', 'db')]), [
      '500 nodes (n-0, n-1, n-2, n-3, n-4 and 495 more) are left as they are: gpu and web select them with the same priority. Give one of the pools a higher one',
      'node z is left as it is: gpu and db select it with the same priority. Give one of the pools a higher one',
    ]);
  });

  it('is nothing of a node that somebody opted out', () => {
    const nodes = [
      { node: { name: 'a' }, choice: { choice: 'opted-out', because: 'by a label' } },
      { node: { name: 'b' }, choice: { choice: 'conflict', pools: ['gpu', 'web'] } },
    ] as const;
    assert.deepEqual(conflictsAmong(nodes), [wanted('b', 'gpu', 'web')]);
  });
});
