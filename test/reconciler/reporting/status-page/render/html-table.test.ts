import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { type Column, table } from '#reconciler/reporting/status-page/render/html-table.ts';

const COLUMNS: readonly Column<readonly [string, number]>[] = [
  { heading: 'Name', cell: ([name]) => name },
  { heading: 'Nodes', cell: ([, nodes]) => nodes, numeric: true },
];

it('a table has a header for each row and column, and numbers to the right', () => {
  const cells = toText(table('All', COLUMNS, [['a<', 1]])).match(/<(?:th|td|caption)\b[^>]*>[^<]*/g);
  assert.deepEqual(
    cells?.map((cell) => cell.trim().replaceAll(/\s+/g, ' ')),
    [
      '<caption> All',
      '<th scope="col" role="columnheader" class="">Name',
      '<th scope="col" role="columnheader" class="number">Nodes',
      '<th scope="row" role="rowheader">a&lt;',
      '<td role="cell" data-label="Nodes" class="number">1',
    ],
  );
});
