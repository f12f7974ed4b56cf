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

/** The same, without those of the spare columns (by their headings, in this order) that a line has no room for. */
export function renderFitting(
  rows: readonly (readonly Cell[])[],
  most: number,
  spare: readonly string[],
): readonly string[] {
  const fits = (table: readonly (readonly Cell[])[]): boolean =>
    renderTable(table.map((row) => row.map(textOf))).every((line) => line.length <= most);
  let fitting = rows;
  for (const heading of spare) {
    if (fits(fitting)) break;
    const column = fitting[0]?.findIndex((cell) => textOf(cell) === heading) ?? -1;
    if (column >= 0) fitting = fitting.map((row) => row.toSpliced(column, 1));
  }
  return renderTable(fitting);
}

const textOf = (cell: Cell | undefined): string =>
  cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text;
const shownOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.shown);
