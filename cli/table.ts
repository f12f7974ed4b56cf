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

const textOf = (cell: Cell | undefined): string =>
  cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text;
const shownOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.shown);
