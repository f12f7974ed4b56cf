/** Why a text is no YAML to the kubelet, and where. */
export class YamlSyntaxError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A place in a text. `text` ends with NULs, so that looking ahead needs no bounds. */
export interface Cursor {
  readonly text: string;
  at: number;
  line: number;
  lineStart: number;
}

/** Where something begins, as far as indentation and keys ask. */
export interface Mark {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export const cursorOn = (text: string): Cursor => ({ text: `${text}\0\0\0\0`, at: 0, line: 0, lineStart: 0 });

export const columnOf = (cursor: Cursor): number => cursor.at - cursor.lineStart;

export const markOf = (cursor: Cursor): Mark => ({ offset: cursor.at, line: cursor.line, column: columnOf(cursor) });

/** The character at the cursor, or so many behind it. */
export const look = (cursor: Cursor, ahead = 0): string => cursor.text.charAt(cursor.at + ahead);

/** YAML 1.1 has three line ends more than YAML 1.2: NEL, LS and PS. */
export const isBreak = (char: string): boolean =>
  char === '\n' || char === '\r' || char === '\u0085' || char === '\u2028' || char === '\u2029';
export const isEnd = (char: string): boolean => char === '\0' || char === '';
export const isBlank = (char: string): boolean => char === ' ' || char === '\t';
export const isBreakOrEnd = (char: string): boolean => isBreak(char) || isEnd(char);
export const isBlankOrEnd = (char: string): boolean => isBlank(char) || isBreakOrEnd(char);
export const isWordChar = (char: string): boolean => /[0-9A-Za-z_-]/.test(char);

/** Goes over a line end and returns what it counts for in a text. */
export function consumeLineBreak(cursor: Cursor): string {
  const char = look(cursor);
  cursor.at += char === '\r' && look(cursor, 1) === '\n' ? 2 : 1;
  cursor.line += 1;
  cursor.lineStart = cursor.at;
  return char === '\u2028' || char === '\u2029' ? char : '\n';
}

export function skipBlanks(cursor: Cursor): void {
  while (isBlank(look(cursor))) cursor.at += 1;
}

export function skipComment(cursor: Cursor): void {
  if (look(cursor) !== '#') return;
  while (!isBreakOrEnd(look(cursor))) cursor.at += 1;
}

/** Blanks, a comment and the line end, and nothing else, as behind directives and the heads of block scalars. */
export function endLine(cursor: Cursor): void {
  skipBlanks(cursor);
  skipComment(cursor);
  if (!isBreakOrEnd(look(cursor)))
    throw new YamlSyntaxError('nothing but a comment may follow on this line', cursor.at);
  if (isBreak(look(cursor))) consumeLineBreak(cursor);
}

/** Whether `---` or `...` begins here as a line of its own. */
export function isDocumentMark(cursor: Cursor, mark: '---' | '...'): boolean {
  return columnOf(cursor) === 0 && cursor.text.startsWith(mark, cursor.at) && isBlankOrEnd(look(cursor, 3));
}

export const isAnyDocumentMark = (cursor: Cursor): boolean =>
  isDocumentMark(cursor, '---') || isDocumentMark(cursor, '...');
