import { type Content, type Html, html } from '../html.ts';

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => Content;
  /** Numbers stand to the right. */
  readonly numeric?: boolean;
}

/**
 * A table whose first column names the row. The roles are said once more because narrow screens show each row as a block, which
 * takes the tables' own meaning away.
 */
export function table<Row>(caption: Content, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  const headings = columns.map(
    ({ heading, numeric }) =>
      html`<th scope="col" role="columnheader" class="${numeric === true ? 'number' : ''}">${heading}</th>`,
  );
  return html`<table role="table">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${headings}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) =>
          html`<tr role="row">
            ${columns.map((column, index) => cellOf(column, row, index))}
          </tr> `,
      )}
    </tbody>
  </table>`;
}

function cellOf<Row>({ heading, cell, numeric }: Column<Row>, row: Row, index: number): Html {
  if (index === 0) return html`<th scope="row" role="rowheader">${cell(row)}</th>`;
  return html`<td role="cell" data-label="${heading}" class="${numeric === true ? 'number' : ''}">${cell(row)}</td>`;
}
