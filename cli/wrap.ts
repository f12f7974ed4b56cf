import { stripVTControlCharacters } from 'node:util';

/** Narrower than this, broken lines are harder to read than long ones. */
const NARROWEST = 40;

/** What a line has room for, where that is a terminal; undefined for anything else. */
export const columnsOf = ({ isTTY = false, columns }: Screen): number | undefined =>
  isTTY && columns !== undefined && columns > 0 ? columns : undefined;

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Breaks long lines between words where a terminal would break them anywhere, further in than their beginning. Text for
 * anything but a terminal stays as it is: one finding, one line.
 */
export function wrapFor(stream: Screen): (text: string) => string {
  const { isTTY = false, columns = 0 } = stream;
  if (!isTTY || columns < NARROWEST) return (text) => text;
  return (text) =>
    text
      .split('\n')
      .map((line) => wrapLine(line, columns))
      .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  const indent = indentOf(stripVTControlCharacters(line), columns);
  const lines: string[] = [];
  let current = '';
  for (const [word] of line.matchAll(/^\s*\S+\s*|\S+\s*/g)) {
    if (current.trim() !== '' && widthOf(current) + widthOf(word.trimEnd()) > columns) {
      lines.push(current.trimEnd());
      current = indent;
    }
    current += word;
  }
  return [...lines, current].join('\n');
}

/** Below the last column of a table where that leaves room, and otherwise a little further in than the line. */
function indentOf(line: string, columns: number): string {
  const last = [...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].at(-1);
  const column = last === undefined ? 0 : last.index + last[0].length;
  if (column > 0 && column <= columns / 2) return ' '.repeat(column);
  return `${/^ */.exec(line)?.[0] ?? ''}    `;
}

const widthOf = (text: string): number => stripVTControlCharacters(text).length;
