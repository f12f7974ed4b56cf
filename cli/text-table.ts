import { oneLine } from './one-line.ts';

/** A cell, or a cell with the text that is shown instead of it (colours do not count towards the width). */
export type Cell = string | { readonly text: string; readonly shown: string };

/** Rows as aligned columns, two spaces apart; the first row is the heading. */
export function renderTable(rows: readonly (readonly Cell[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => textOf(row[column]).length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => `${shownOf(cell)}${' '.repeat((widths[column] ?? 0) - textOf(cell).length)}`)
      .join('  ')
      .trimEnd(),
  );
}

/**
 * The same, a group of lines for each row; where a line has no room, the last column stands below its row.
 *
 * @param most what a line has room for
 */
export function renderFolding(rows: readonly (readonly Cell[])[], most: number): readonly (readonly string[])[] {
  if (fits(rows, most)) return renderTable(rows).map((line) => [line]);
  const [heading = [], ...body] = rows;
  const folded = renderTable([heading.slice(0, -1), ...body.map((row) => row.slice(0, -1))]);
  return folded.map((line, index) => {
    const last = index === 0 ? undefined : rows[index]?.at(-1);
    return last === undefined || textOf(last) === '' ? [line] : [line, `  ${shownOf(last)}`];
  });
}

const fits = (rows: readonly (readonly Cell[])[], most: number): boolean =>
  renderTable(rows.map((row) => row.map(textOf))).every((line) => line.length <= most);

/** The same, without those of the spare columns (by their headings, in this order) that a line has no room for. */
export function renderFitting(
  rows: readonly (readonly Cell[])[],
  most: number,
  spare: readonly string[],
): readonly string[] {
  let fitting = rows;
  for (const heading of spare) {
    if (fits(fitting, most)) break;
    const column = fitting[0]?.findIndex((cell) => textOf(cell) === heading) ?? -1;
    if (column >= 0) fitting = fitting.map((row) => row.toSpliced(column, 1));
  }
  return renderTable(fitting);
}

const textOf = (cell: Cell | undefined): string =>
  cell === undefined ? '' : oneLine(typeof cell === 'string' ? cell : cell.text);
const shownOf = (cell: Cell): string => oneLine(typeof cell === 'string' ? cell : cell.shown);
