import {
  columnOf,
  cursorOn,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isDocumentMark,
  isEnd,
  look,
  type Mark,
  markOf,
  skipComment,
  consumeLineBreak,
  YamlSyntaxError,
} from './cursor.ts';
import { createPossibleKeys } from './possible-keys.ts';
import { scanBlockScalar } from './scan-block-scalar.ts';
import { scanPlain, scanQuoted } from './scan-flow-scalar.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-properties.ts';
import type { Punctuation, Token, Tokens } from './tokens.ts';

const MAX_NESTING = 10_000;

/**
 * Cuts a text into tokens as go-yaml v2 does, which is libyaml's way: YAML 1.1, in places looser and in places stricter
 * than any specification.
 */
export function tokensOf(text: string): Tokens {
  const cursor = cursorOn(text);
  const queue: Token[] = [];
  let taken = 0;
  let indent = -1;
  const indents: number[] = [];
  const keys = createPossibleKeys(cursor);
  let keyAllowed = true;
  let isDone = false;

  const inFlow = (): boolean => keys.levels() > 1;
  const append = (token: Token): void => void queue.push(token);

  function fetchUntilCertain(): void {
    while (needsMore()) fetchNext();
  }

  const needsMore = (): boolean => !isDone && (queue.length === 0 || keys.mayBegin(taken));

  function saveKey(): void {
    if (!keyAllowed) return;
    keys.save({ isRequired: !inFlow() && indent === columnOf(cursor), token: taken + queue.length });
  }

  /** Opens a block collection where the column is deeper than the last one's. */
  function rollIndent(type: Punctuation, { column, offset }: Mark, token?: number): void {
    if (inFlow() || indent >= column) return;
    indents.push(indent);
    indent = column;
    if (indents.length > MAX_NESTING) throw new YamlSyntaxError('too many levels of nesting', offset);
    queue.splice(token === undefined ? queue.length : token - taken, 0, { type, start: offset });
  }

  function unrollIndent(column: number): void {
    while (!inFlow() && indent > column) {
      append({ type: 'block-end', start: cursor.at });
      indent = indents.pop() ?? -1;
    }
  }

  function fetchNext(): void {
    skipToToken();
    unrollIndent(columnOf(cursor));
    const char = look(cursor);
    if (isEnd(char)) return fetchEnd();
    if (columnOf(cursor) === 0 && char === '%') return fetchDirective();
    if (isDocumentMark(cursor, '---')) return fetchDocumentMark('document-start');
    if (isDocumentMark(cursor, '...')) return fetchDocumentMark('document-end');
    const isAlone = isBlankOrEnd(look(cursor, 1));
    if (char === '[') return openFlow('flow-sequence-start');
    if (char === '{') return openFlow('flow-mapping-start');
    if (char === ']') return closeFlow('flow-sequence-end');
    if (char === '}') return closeFlow('flow-mapping-end');
    if (char === ',') return fetchFlowEntry();
    if (char === '-' && isAlone) return fetchBlockEntry();
    if (char === '?' && (inFlow() || isAlone)) return fetchKey();
    if (char === ':' && (inFlow() || isAlone)) return fetchValue();
    if ((char === '|' || char === '>') && !inFlow()) return fetchBlockScalar();
    fetchNodePart(char);
  }

  /** What a key may begin with: anchors, tags, texts. */
  function fetchNodePart(char: string): void {
    const isPlain = beginsPlain(char);
    if (!isPlain && !`*&!'"`.includes(char))
      throw new YamlSyntaxError('no value can begin with this character', cursor.at);
    saveKey();
    keyAllowed = false;
    const start = cursor.at;
    if (char === '*') append({ type: 'alias', name: scanAnchor(cursor), start });
    else if (char === '&') append({ type: 'anchor', name: scanAnchor(cursor), start });
    else if (char === '!') append({ type: 'tag', tag: scanTag(cursor), start });
    else if (!isPlain) append({ type: 'scalar', text: scanQuoted(cursor), isPlain: false, start });
    else {
      const { text: words, endedLine } = scanPlain(cursor, indent, inFlow());
      append({ type: 'scalar', text: words, isPlain: true, start });
      if (endedLine) keyAllowed = true;
    }
  }

  function beginsPlain(char: string): boolean {
    if (char === '-') return !isBlank(look(cursor, 1));
    if (char === '?' || char === ':') return !inFlow();
    return !isBlankOrEnd(char) && !',[]{}#&*!|>\'"%@`'.includes(char);
  }

  function skipToToken(): void {
    // One byte order mark is gone already; a second one is let pass.
    if (cursor.at === 0 && look(cursor) === '\uFEFF') cursor.at += 1;
    for (;;) {
      // A tab would indent where a key may begin.
      const blanks = inFlow() || !keyAllowed ? ' \t' : ' ';
      while (blanks.includes(look(cursor))) cursor.at += 1;
      skipComment(cursor);
      if (!isBreak(look(cursor))) return;
      consumeLineBreak(cursor);
      if (!inFlow()) keyAllowed = true;
    }
  }

  function fetchEnd(): void {
    unrollIndent(-1);
    keys.dropLast();
    append({ type: 'stream-end', start: cursor.at });
    isDone = true;
  }

  function fetchDirective(): void {
    const start = cursor.at;
    leaveBlocks();
    append({ type: 'directive', directive: scanDirective(cursor), start });
  }

  function fetchDocumentMark(type: Punctuation): void {
    leaveBlocks();
    takePunctuation(type, 3);
  }

  function leaveBlocks(): void {
    unrollIndent(-1);
    keys.dropLast();
    keyAllowed = false;
  }

  function openFlow(type: Punctuation): void {
    saveKey();
    keys.open();
    if (keys.levels() > MAX_NESTING) throw new YamlSyntaxError('too many levels of nesting', cursor.at);
    keyAllowed = true;
    takePunctuation(type);
  }

  function closeFlow(type: Punctuation): void {
    keys.dropLast();
    if (inFlow()) keys.close();
    keyAllowed = false;
    takePunctuation(type);
  }

  function fetchFlowEntry(): void {
    keys.dropLast();
    keyAllowed = true;
    takePunctuation('flow-entry');
  }

  function fetchBlockEntry(): void {
    if (!inFlow() && !keyAllowed) throw new YamlSyntaxError('no list can begin here', cursor.at);
    rollIndent('block-sequence-start', markOf(cursor));
    keys.dropLast();
    keyAllowed = true;
    takePunctuation('block-entry');
  }

  function fetchKey(): void {
    if (!inFlow() && !keyAllowed) throw new YamlSyntaxError('no key can begin here', cursor.at);
    rollIndent('block-mapping-start', markOf(cursor));
    keys.dropLast();
    keyAllowed = !inFlow();
    takePunctuation('key');
  }

  function fetchValue(): void {
    const key = keys.take();
    if (key !== undefined) {
      queue.splice(key.token - taken, 0, { type: 'key', start: key.mark.offset });
      rollIndent('block-mapping-start', key.mark, key.token);
      keyAllowed = false;
    } else {
      if (!inFlow() && !keyAllowed)
        throw new YamlSyntaxError(
          'a colon with a space after it begins a value, and there is no key for it',
          cursor.at,
        );
      rollIndent('block-mapping-start', markOf(cursor));
      keyAllowed = !inFlow();
    }
    takePunctuation('value');
  }

  function fetchBlockScalar(): void {
    keys.dropLast();
    keyAllowed = true;
    const start = cursor.at;
    append({ type: 'scalar', text: scanBlockScalar(cursor, indent), isPlain: false, start });
  }

  function takePunctuation(type: Punctuation, length = 1): void {
    append({ type, start: cursor.at });
    cursor.at += length;
  }

  function peek(): Token {
    fetchUntilCertain();
    const [head] = queue;
    if (head === undefined) throw new YamlSyntaxError('there is nothing more in the text', cursor.at);
    return head;
  }

  function skip(): void {
    peek();
    queue.shift();
    taken += 1;
  }

  return { peek, skip, readAhead: () => cursor.at };
}
