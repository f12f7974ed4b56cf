import {
  type Cursor,
  endLine,
  isBlank,
  isBlankOrEnd,
  isWordChar,
  look,
  skipBlanks,
  YamlSyntaxError,
} from './cursor.ts';
import type { Directive, WrittenTag } from './tokens.ts';

/** Reads `&name` or `*name` and returns the name. */
export function scanAnchor(cursor: Cursor): string {
  const start = cursor.at;
  cursor.at += 1;
  const name = takeWhile(cursor, isWordChar);
  const next = look(cursor);
  if (name === '' || !(isBlankOrEnd(next) || '?:,]}%@`'.includes(next)))
    throw new YamlSyntaxError('the names of anchors are letters, digits, - and _', start);
  return name;
}

/** Reads `!name`, `!handle!name`, `!<name>` or `!`. */
export function scanTag(cursor: Cursor): WrittenTag {
  const start = cursor.at;
  const tag = scanTagParts(cursor, start);
  if (!isBlankOrEnd(look(cursor)))
    throw new YamlSyntaxError('the tag has a character that tags cannot have', cursor.at);
  return tag;
}

function scanTagParts(cursor: Cursor, start: number): WrittenTag {
  if (look(cursor, 1) === '<') {
    cursor.at += 2;
    const suffix = scanUri(cursor, '', start);
    if (look(cursor) !== '>') throw new YamlSyntaxError('the tag has no closing >', start);
    cursor.at += 1;
    return { handle: '', suffix };
  }
  const handle = scanHandle(cursor, false, start);
  if (handle.length > 1 && handle.endsWith('!')) return { handle, suffix: scanUri(cursor, '', start) };
  const suffix = scanUri(cursor, handle, start);
  return suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix };
}

function scanHandle(cursor: Cursor, inDirective: boolean, start: number): string {
  if (look(cursor) !== '!') throw new YamlSyntaxError('a tag begins with !', start);
  cursor.at += 1;
  const name = takeWhile(cursor, isWordChar);
  if (look(cursor) === '!') {
    cursor.at += 1;
    return `!${name}!`;
  }
  if (inDirective && name !== '') throw new YamlSyntaxError('the handle of a tag ends with !', start);
  return `!${name}`;
}

/** @param head what was read of it already, with its `!` */
function scanUri(cursor: Cursor, head: string, start: number): string {
  const from = cursor.at;
  const text = takeWhile(cursor, (char) => char !== '' && (isWordChar(char) || ";/?:@&=+$,.!~*'()[]%".includes(char)));
  if (head === '' && cursor.at === from) throw new YamlSyntaxError('the tag has no name', start);
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw new YamlSyntaxError('% in a tag needs two hexadecimal digits', start);
  try {
    return head.slice(1) + decodeURIComponent(text);
  } catch {
    throw new YamlSyntaxError('the % escapes of the tag are not UTF-8', start);
  }
}

/** Reads a line that begins with `%`. */
export function scanDirective(cursor: Cursor): Directive {
  const start = cursor.at;
  cursor.at += 1;
  const name = takeWhile(cursor, isWordChar);
  if (name === '' || !isBlankOrEnd(look(cursor)))
    throw new YamlSyntaxError('% begins a directive, and this is none', start);
  if (name !== 'YAML' && name !== 'TAG') throw new YamlSyntaxError(`the kubelet knows no directive %${name}`, start);
  skipBlanks(cursor);
  const directive = name === 'YAML' ? scanVersion(cursor, start) : scanTagDirective(cursor, start);
  endLine(cursor);
  return directive;
}

function scanVersion(cursor: Cursor, start: number): Directive {
  const number = /(\d{1,2})\.(\d{1,2})(?!\d)/y;
  number.lastIndex = cursor.at;
  const match = number.exec(cursor.text);
  if (match === null) throw new YamlSyntaxError('%YAML needs a version such as 1.1', start);
  cursor.at += match[0].length;
  return { type: 'version', isKnown: Number(match[1]) === 1 && Number(match[2]) === 1, version: match[0], start };
}

function scanTagDirective(cursor: Cursor, start: number): Directive {
  const handle = scanHandle(cursor, true, start);
  if (!isBlank(look(cursor))) throw new YamlSyntaxError('%TAG needs a handle and a prefix', start);
  skipBlanks(cursor);
  const prefix = scanUri(cursor, '', start);
  if (!isBlankOrEnd(look(cursor)))
    throw new YamlSyntaxError('the prefix has a character that tags cannot have', cursor.at);
  return { type: 'tag', handle, prefix, start };
}

function takeWhile(cursor: Cursor, fits: (char: string) => boolean): string {
  const from = cursor.at;
  while (fits(look(cursor))) cursor.at += 1;
  return cursor.text.slice(from, cursor.at);
}
