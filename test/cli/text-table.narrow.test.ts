import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { eventsAsText } from '#cli/events/render.ts';
import { historyAsText } from '#cli/history/render.ts';
import { paintFor, plain } from '#cli/paint.ts';
import { renderWhy } from '#cli/status/render-why.ts';
import { renderStatus } from '#cli/status/render.ts';
import { wrapFor } from '#cli/wrap.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { nodeView, NOW, poolInCluster, settledNode, validPool } from '../support/fleet.ts';

const workers = validPool('workers', 110);
const wave = { nodes: 9, state: 'rolling' } as const;
const POOL = poolInCluster(workers, {
  phase: 'Halted',
  message: 'failed on node-1, and the next attempt needs a new commit',
  counts: { nodes: 9, updated: 1, updating: 2, pending: 3, failed: 4, noAgent: 5, drifted: 0 },
  rollout: {
    configName: workers.configName,
    sha256: workers.sha256,
    startedAt: '2026-11-21T11:00:00Z',
    waves: [
      { name: 'canary', ...wave },
      { name: 'rest', ...wave },
    ],
  },
});
const NODE = settledNode(nodeView('node-1', 'workers'), workers, {
  kubeletVersion: 'v1.34.2',
  active: { name: 'workers-active0000', sha256: 'a'.repeat(64), apply: 'replace' },
  lastKnownGood: { name: 'workers-good000000', sha256: 'b'.repeat(64), apply: 'replace' },
  error: { reason: 'CrashLoop', message: 'exit-code 1', at: '2026-11-21T11:00:00Z' },
});
const STATUS = { source: NO_STATE, pools: [POOL], nodes: [NODE] };

/** What stands under each heading of the table with this heading, by the row of this name. */
function cellsOf(text: string, heading: string, row: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').map((line) => line.split(/ {2,}/));
  const headings = lines.find(([first]) => first === heading) ?? [];
  const cells = lines.find(([first]) => first === row) ?? [];
  return Object.fromEntries(headings.map((each, index) => [each, cells[index] ?? '']));
}

const ALL_OF_POOL = {
  POOL: 'workers',
  PHASE: 'Halted',
  UPDATED: '1/9',
  UPDATING: '2',
  PENDING: '3',
  FAILED: '4',
  'NO AGENT': '5',
  CONFIG: workers.configName,
};
const ALL_OF_NODE = {
  NODE: 'node-1',
  POOL: 'workers',
  PHASE: 'Idle',
  ASSIGNED: workers.configName,
  ACTIVE: 'workers-active0000',
  'LAST KNOWN GOOD': 'workers-good000000',
  KUBELET: 'v1.34.2',
  SEEN: '0s',
};
const without = (cells: Readonly<Record<string, string>>, headings: readonly string[]) =>
  Object.fromEntries(Object.entries(cells).filter(([heading]) => !headings.includes(heading)));

describe('a narrow terminal takes from the tables of status', () => {
  for (const [columns, ofPool, ofNode] of [
    [160, [], []],
    [80, ['PENDING'], ['LAST KNOWN GOOD']],
    [68, ['PENDING', 'UPDATING'], ['LAST KNOWN GOOD', 'KUBELET']],
    [60, ['PENDING', 'UPDATING'], ['LAST KNOWN GOOD', 'KUBELET', 'ASSIGNED']],
    [40, ['PENDING', 'UPDATING'], ['LAST KNOWN GOOD', 'KUBELET', 'ASSIGNED']],
  ] as const) {
    it(`of ${columns} columns ${[...ofPool, ...ofNode].join(', ') || 'nothing'}, and no number of failures`, () => {
      for (const paint of [plain, paintFor({ isTTY: true }, {})]) {
        const text = stripVTControlCharacters(renderStatus(STATUS, paint, NOW, columns));
        assert.deepEqual(cellsOf(text, 'POOL', 'workers'), without(ALL_OF_POOL, ofPool));
        assert.deepEqual(cellsOf(text, 'NODE', 'node-1'), without(ALL_OF_NODE, ofNode));
      }
    });
  }
});

describe('no narrow terminal loses a word', () => {
  const why = { node: 'node-1', pool: 'workers', standing: 'was assigned something else', now: 'budget' };
  const because = 'one of nine nodes may be unavailable, and node-7 is';
  const event = { at: '2026-11-21T11:00:00Z', reason: 'ConfigFellBack', type: 'Warning', kind: 'Node' } as const;
  const note = { outcome: 'halted', message: 'failed on node-1', pools: ['general 1/9', 'gpu 2/2'] } as const;
  const entry = { commit: 'a'.repeat(40), at: '2026-11-21T15:04:05Z', author: 'Ada Admin', subject: 'Raise maxPods' };
  const belowRows = (text: string): string => text.replaceAll(/^\S.*$/gm, '');
  for (const [what, of] of [
    ['below a row of status', (columns: number) => belowRows(renderStatus(STATUS, plain, NOW, columns))],
    ['of status --why', (columns: number) => renderWhy([{ ...why, because }], plain, columns).replace('BECAUSE', '')],
    [
      'of events',
      (columns: number) =>
        eventsAsText(
          [{ ...event, name: 'node-1', pool: 'workers', note: because, count: 3, id: 'a' }],
          plain,
          columns,
        ).replace('NOTE', ''),
    ],
    [
      'of history',
      (columns: number) =>
        historyAsText([{ ...entry, cluster: 'demo', note }], plain, columns).replaceAll(/UPDATED|\bby|[():,]/g, ''),
    ],
  ] as const) {
    for (const columns of [80, 60, 40]) {
      it(`${what} at ${columns} columns`, () => {
        const narrow = wrapFor({ isTTY: true, columns })(of(columns));
        const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/).toSorted();
        assert.deepEqual(wordsOf(narrow), wordsOf(of(Infinity)));
        for (const line of narrow.split('\n')) assert.ok(line.length <= columns, line);
      });
    }
  }
});
