import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { createWrittenNodes } from '#reconciler/cluster/written/nodes.ts';
import type { Clock } from '#shared/runtime/clock.ts';

const node = (generation: number, pool: string, uid = 'u'): KubeletNode => ({
  metadata: { name: 'a', uid, generation },
  spec: { pool },
});
const watched = (...nodes: readonly KubeletNode[]): ReadonlyMap<string, KubeletNode> =>
  new Map(nodes.map((item) => [item.metadata.name, item]));

function setUp(): { readonly written: ReturnType<typeof createWrittenNodes>; pass(ms: number): void } {
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
  return { written: createWrittenNodes(clock), pass: (ms) => (now += ms) };
}

describe('what the reconciler wrote', () => {
  it('is seen before the watch shows it', () => {
    const { written } = setUp();
    written.wrote(node(2, 'new'));
    assert.equal(written.over(watched(node(1, 'old')), 0).get('a')?.spec?.pool, 'new');
  });

  it('gives way once the watch has caught up', () => {
    const { written } = setUp();
    written.wrote(node(2, 'new'));
    assert.equal(written.over(watched(node(2, 'new')), 0).get('a')?.metadata.generation, 2);
    assert.equal(written.over(watched(node(3, 'newer')), 0).get('a')?.spec?.pool, 'newer');
    assert.equal(written.over(watched(node(1, 'older again')), 0).get('a')?.spec?.pool, 'older again');
  });

  it('gives way to another object of the same name', () => {
    const { written } = setUp();
    written.wrote(node(9, 'new'));
    assert.equal(written.over(watched(node(1, 'reborn', 'v')), 0).get('a')?.spec?.pool, 'reborn');
  });

  it('is not forgotten while the watch is behind, however long that takes, but gives way to a later list', () => {
    const { written, pass } = setUp();
    pass(10);
    written.wrote(node(2, 'new'));
    pass(600_000);
    assert.equal(written.over(watched(node(1, 'old')), 10).get('a')?.spec?.pool, 'new');
    assert.equal(written.over(watched(node(1, 'restored from a backup')), 11).get('a')?.metadata.generation, 1);
  });

  it('is seen where the watch shows nothing yet, but not for ever', () => {
    const { written, pass } = setUp();
    written.wrote(node(1, 'new'));
    assert.equal(written.over(watched(), 0).size, 1);
    pass(60_001);
    assert.equal(written.over(watched(), 0).size, 0);
  });
});
