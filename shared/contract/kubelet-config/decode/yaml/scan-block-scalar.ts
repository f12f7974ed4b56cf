import {
  columnOf,
  type Cursor,
  endLine,
  isBlank,
  isBreak,
  isBreakOrEnd,
  isEnd,
  look,
  consumeLineBreak,
  YamlSyntaxError,
} from './cursor.ts';

/**
 * Reads the text behind `|` or `>`; the cursor stands on that.
 *
 * @param parent indent of the collection around it, -1 outside of all
 */
export function scanBlockScalar(cursor: Cursor, parent: number): string {
  const isLiteral = look(cursor) === '|';
  cursor.at += 1;
  const { chomping, increment } = scanHead(cursor);
  endLine(cursor);
  const lines = blockLines(cursor, parent, increment);
  let text = '';
  let first = '';
  let more = lines.breaks();
  let wasBlank = false;
  while (columnOf(cursor) === lines.indent() && !isEnd(look(cursor))) {
    const isBlankLine = isBlank(look(cursor));
    const folds = !isLiteral && !wasBlank && !isBlankLine && first === '\n';
    text += folds ? (more === '' ? ' ' : '') : first;
    text += more;
    wasBlank = isBlankLine;
    const from = cursor.at;
    while (!isBreakOrEnd(look(cursor))) cursor.at += 1;
    text += cursor.text.slice(from, cursor.at);
    first = isBreak(look(cursor)) ? consumeLineBreak(cursor) : '';
    more = lines.breaks();
  }
  if (chomping !== '-') text += first;
  return chomping === '+' ? text + more : text;
}

/** `|2-` and the like, in either order. */
function scanHead(cursor: Cursor): { readonly chomping: string; readonly increment: number } {
  const head = /(?:([-+])(\d?)|(\d)([-+]?))?/y;
  head.lastIndex = cursor.at;
  const [all = '', before, digitAfter, digitFirst, after] = head.exec(cursor.text) ?? [];
  const digit = digitFirst ?? digitAfter ?? '';
  if (digit === '0') throw new YamlSyntaxError('the indentation of a block scalar cannot be 0', cursor.at);
  cursor.at += all.length;
  return { chomping: before ?? after ?? '', increment: digit === '' ? 0 : Number(digit) };
}

interface BlockLines {
  indent(): number;
  /** Goes over indentation and empty lines, and returns the line ends. */
  breaks(): string;
}

/** Without a number in the head the indent is that of the first line with something on it. */
function blockLines(cursor: Cursor, parent: number, increment: number): BlockLines {
  let indent = increment > 0 ? Math.max(parent, 0) + increment : 0;

  function breaks(): string {
    let found = '';
    let deepest = 0;
    for (;;) {
      const limit = indent === 0 ? Infinity : indent;
      while (columnOf(cursor) < limit && look(cursor) === ' ') cursor.at += 1;
      deepest = Math.max(deepest, columnOf(cursor));
      if (columnOf(cursor) < limit && look(cursor) === '\t')
        throw new YamlSyntaxError('a tab cannot indent', cursor.at);
      if (!isBreak(look(cursor))) break;
      found += consumeLineBreak(cursor);
    }
    if (indent === 0) indent = Math.max(deepest, parent + 1, 1);
    return found;
  }

  return { indent: () => indent, breaks };
}
