import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type NodeFilter } from '#reconciler/reporting/status-page/page-request.ts';
import { node, POOL, nodesPage, draw, bare, parts, tableOf } from '../support/drawn.ts';

describe('what the page shows of', () => {
  it('nodes: what each runs or is to run, why, and when its agent was seen', () => {
    const nodes = [
      node('n1'),
      node('n2', { state: 'waiting', now: 'budget', because: 'its turn is to come', active: 'web-old', heartbeat: '' }),
      node('n3', { pool: '', state: 'updating', now: 'change now', progress: 'Trial', error: 'CrashLoop: 1' }),
    ];
    assert.deepEqual(tableOf(draw({ nodes }, nodesPage()), '3 nodes'), [
      'Node | State | Pool | Why | Config | Kubelet | Agent seen',
      'n1 | ✓ settled | web | it is up to date | web-new | v1.30.1 | 21 Nov 2026, 22:00:00 UTC',
      'n2 | ○ waiting | web | budget : its turn is to come | web-old , to be web-new | v1.30.1 | never',
      'n3 | ↻ updating | – | it is up to date (Trial) CrashLoop: 1 | web-new | v1.30.1 | 21 Nov 2026, 22:00:00 UTC',
    ]);
    const [heading, ...members] = tableOf(draw({ nodes }, POOL), '2 nodes');
    assert.equal(heading, 'Node | State | Why | Config | Kubelet | Agent seen');
    assert.deepEqual(
      members.map((row) => row.slice(0, 2)),
      ['n1', 'n2'],
    );
  });

  it('those nodes that were asked for, by state and name, a hundred to a page', () => {
    const many = Array.from({ length: 250 }, (_, n) => node(`n-${n}`));
    const nodes = [...many, node('other', { state: 'failed' }), node('n-x', { state: 'failed' })];
    const names = (filter: Partial<NodeFilter>, caption: string): readonly string[] =>
      tableOf(draw({ nodes }, nodesPage(filter)), caption)
        .slice(1)
        .map((row) => row.split(' ', 1).join());
    assert.deepEqual(names({ state: 'failed' }, '2 nodes, failed'), ['other', 'n-x']);
    assert.deepEqual(names({ state: 'failed', name: 'n-' }, '1 node, failed, with “n-” in the name'), ['n-x']);
    const [first, last] = [
      names({}, '252 nodes; these are 1 to 100'),
      names({ page: 9 }, '252 nodes; these are 201 to 252'),
    ];
    assert.deepEqual([first.length, first[0], last.length, last.at(-1)], [100, 'n-0', 52, 'n-x']);
    const pager = (page: number): readonly string[] =>
      parts(draw({ nodes }, nodesPage({ page })), /<a href="([^"]*)" rel="(?:prev|next)">/g);
    assert.deepEqual([pager(1), pager(2), pager(3)], [['nodes?page=2'], ['nodes', 'nodes?page=3'], ['nodes?page=2']]);
    assert.doesNotMatch(
      draw({ nodes: many.slice(100) }, nodesPage({ state: 'settled', name: 'n-1' })),
      /class="pager"/,
    );
    assert.match(bare(draw({ nodes }, nodesPage({ name: 'nobody' }))), /No node matches\. Show all/);
    const form = draw({ nodes }, nodesPage({ state: 'failed', name: 'n-' }));
    assert.deepEqual(parts(form, /<option value="([^"]*)" selected>/g), ['failed']);
    assert.match(
      form,
      /<form\s+method="get"\s+action="nodes"[^>]*>(?:(?!type="hidden").)*<input id="node" name="node" value="n-"/s,
    );
    assert.match(draw({ nodes }, POOL), /action="pool"[^>]*>\s*<input type="hidden" name="name" value="web" \/>/);
  });
});
