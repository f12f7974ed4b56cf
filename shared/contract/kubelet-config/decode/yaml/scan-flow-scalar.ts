import {
  type Cursor,
  isAnyDocumentMark,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isEnd,
  look,
  consumeLineBreak,
  YamlSyntaxError,
} from './cursor.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\u0007',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\u001B',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00A0',
  L: '\u2028',
  P: '\u2029',
};
const CODE_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads a text in single or double quotes; the cursor stands on the first of them. */
export function scanQuoted(cursor: Cursor): string {
  const start = cursor.at;
  const quote = look(cursor);
  let text = '';
  cursor.at += 1;
  for (;;) {
    if (isAnyDocumentMark(cursor))
      throw new YamlSyntaxError('a document begins or ends inside of a text in quotes', cursor.at);
    if (isEnd(look(cursor))) throw new YamlSyntaxError('the text in quotes has no end', start);
    const part = scanQuotedWords(cursor, quote);
    text += part.text;
    if (look(cursor) === quote) break;
    text += scanWhiteSpace(cursor, part.isContinued);
  }
  cursor.at += 1;
  return text;
}

/** Everything up to white space or the closing quote. */
function scanQuotedWords(cursor: Cursor, quote: string): { readonly text: string; readonly isContinued: boolean } {
  let text = '';
  while (!isBlankOrEnd(look(cursor))) {
    const char = look(cursor);
    if (char === quote) {
      if (quote !== "'" || look(cursor, 1) !== "'") break;
      text += "'";
      cursor.at += 2;
    } else if (char === '\\' && quote === '"') {
      if (isBreak(look(cursor, 1))) {
        cursor.at += 1;
        consumeLineBreak(cursor);
        return { text, isContinued: true };
      }
      text += scanEscape(cursor);
    } else {
      text += char;
      cursor.at += 1;
    }
  }
  return { text, isContinued: false };
}

function scanEscape(cursor: Cursor): string {
  const letter = look(cursor, 1);
  const plain = ESCAPES[letter];
  const length = CODE_LENGTHS[letter];
  if (plain === undefined && length === undefined)
    throw new YamlSyntaxError(`\\${letter} is not an escape that the kubelet knows`, cursor.at);
  const digits = cursor.text.slice(cursor.at + 2, cursor.at + 2 + (length ?? 0));
  if (plain !== undefined) {
    cursor.at += 2;
    return plain;
  }
  if (digits.length !== length || !/^[0-9A-Fa-f]+$/.test(digits))
    throw new YamlSyntaxError(`\\${letter} needs ${length} hexadecimal digits`, cursor.at);
  const code = Number.parseInt(digits, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
    throw new YamlSyntaxError(
      `\\${letter}${digits} is not a character; those beyond U+FFFF are written \\U0001F600`,
      cursor.at,
    );
  cursor.at += 2 + length;
  return String.fromCodePoint(code);
}

/** White space between words: blanks stay, line ends are folded. */
function scanWhiteSpace(cursor: Cursor, isContinued: boolean): string {
  let blanks = '';
  let first: string | undefined = isContinued ? '' : undefined;
  let more = '';
  while (isBlank(look(cursor)) || isBreak(look(cursor))) {
    if (isBlank(look(cursor))) {
      if (first === undefined) blanks += look(cursor);
      cursor.at += 1;
    } else if (first === undefined) {
      first = consumeLineBreak(cursor);
    } else {
      more += consumeLineBreak(cursor);
    }
  }
  return first === undefined ? blanks : folded(first, more);
}

/** One line end becomes a space; further ones stay. */
function folded(first: string, more: string): string {
  if (first !== '\n') return first + more;
  return more === '' ? ' ' : more;
}

/** What a plain scalar was, and whether it ended with the line, so that a key may follow. */
interface PlainScan {
  readonly text: string;
  readonly endedLine: boolean;
}

/** @param indent that of the collection around it, -1 outside of all */
export function scanPlain(cursor: Cursor, indent: number, inFlow: boolean): PlainScan {
  const start = cursor.at;
  let text = '';
  let blanks = '';
  let first: string | undefined;
  let more = '';
  for (;;) {
    if (isAnyDocumentMark(cursor) || look(cursor) === '#') break;
    while (!isBlankOrEnd(look(cursor)) && !endsPlain(cursor, inFlow)) {
      text += first === undefined ? blanks : folded(first, more);
      blanks = more = '';
      first = undefined;
      text += look(cursor);
      cursor.at += 1;
    }
    if (!isBlank(look(cursor)) && !isBreak(look(cursor))) break;
    while (isBlank(look(cursor)) || isBreak(look(cursor))) {
      if (isBreak(look(cursor))) {
        if (first === undefined) first = consumeLineBreak(cursor);
        else more += consumeLineBreak(cursor);
        continue;
      }
      if (first !== undefined && cursor.at - cursor.lineStart < indent + 1 && look(cursor) === '\t')
        throw new YamlSyntaxError('a tab cannot indent', cursor.at);
      if (first === undefined) blanks += look(cursor);
      cursor.at += 1;
    }
    if (!inFlow && cursor.at - cursor.lineStart < indent + 1) break;
  }
  if (text === '' && cursor.at === start) throw new YamlSyntaxError('no value can begin with this character', start);
  return { text, endedLine: first !== undefined };
}

function endsPlain(cursor: Cursor, inFlow: boolean): boolean {
  const char = look(cursor);
  if (char === ':' && isBlankOrEnd(look(cursor, 1))) return true;
  return inFlow && ',?[]{}'.includes(char);
}
