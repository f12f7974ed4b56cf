import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Version } from './support/etcd-history.ts';
import { checkHistory } from './support/check-history.ts';
import { A } from '../support/agent/states.ts';

type Phase = 'Idle' | 'Trial';

let revision = 0;
function version(name: string, told: string | null, runs: string, good: string, phase: Phase = 'Idle') {
  const configSource = { ...A.source, name: told ?? '' };
  const object: KubeletNode = {
    metadata: { name, generation: 1 },
    ...(told === null ? {} : { spec: { pool: 'p', configSource } }),
    status: { phase, active: { name: runs }, lastKnownGood: { name: good } },
  };
  return { name, object, revision: (revision += 1) } satisfies Version<KubeletNode>;
}

/** A node that goes from one config to another. */
const changed = (name: string, from: string, to: string): Version<KubeletNode>[] => [
  version(name, to, from, from),
  version(name, to, to, from, 'Trial'),
  version(name, to, to, to),
];
const begin = (...names: string[]): Version<KubeletNode>[] =>
  names.map((name) => version(name, null, 'local', 'local'));

describe('the judge of histories', () => {
  it('finds nothing wrong with nodes that change one after the other', () => {
    const judged = checkHistory([...begin('a', 'b'), ...changed('a', 'local', 'x'), ...changed('b', 'local', 'x')], 1);
    assert.deepEqual(judged.wrongs, []);
    assert.deepEqual([judged.specWrites, judged.mostAtOnce, judged.trials.size], [2, 1, 2]);
    assert.deepEqual([...judged.assignments], [['x', 2]]);
  });

  it('finds too many at once', () => {
    const [a1, ...a] = changed('a', 'local', 'x');
    const [b1, ...b] = changed('b', 'local', 'x');
    assert.ok(a1 !== undefined && b1 !== undefined);
    const { wrongs } = checkHistory([...begin('a', 'b'), a1, b1, ...a, ...b], 1);
    assert.match(wrongs[0] ?? '', /^2 nodes of p are in a change, 1 may be: b at/);
  });

  it('finds what was told or started twice', () => {
    const there = changed('a', 'local', 'x');
    const { wrongs } = checkHistory([...begin('a'), ...there, ...changed('a', 'x', 'y'), ...changed('a', 'y', 'x')], 1);
    assert.match(wrongs.join('\n'), /was told x again[^]*was started again with x/);
  });

  it('finds what was written for nothing, and what was deleted', () => {
    const [told] = changed('a', 'local', 'x');
    assert.ok(told !== undefined);
    const amended = { ...told.object, spec: { ...told.object?.spec, commit: 'c' } } as KubeletNode;
    const { wrongs } = checkHistory([...begin('a'), told, { ...told, object: amended }, { ...told, object: null }], 1);
    assert.match(wrongs.join('\n'), /was written for nothing[^]*was deleted/);
  });
});
