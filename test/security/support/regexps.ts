import { readFileSync } from 'node:fs';

/** A regular expression as it stands in a source file. */
export interface Literal {
  readonly file: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/** After these a slash begins a regular expression; after anything else it divides. */
const BEFORE = /(?:^|[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|throw|yield|await))$/;
const CLOSED_BY: Readonly<Record<string, string>> = { "'": "'", '"': '"', '//': '\n', '/*': '*/' };

/** All regular expressions that are written out in a file; text and comments that look like some are passed over. */
export function regexpsIn(file: string): readonly Literal[] {
  const text = readFileSync(file, 'utf8');
  const found: Literal[] = [];
  /** What stood last that is neither blank nor comment. */
  let before = '';
  /** Braces that are open within each template. */
  const templates: number[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    const pair = text.slice(at, at + 2);
    if (/\s/.test(char)) at += 1;
    else if (pair === '//' || pair === '/*') at = after(text, at + 2, CLOSED_BY[pair] ?? '');
    else if (char === "'" || char === '"') [at, before] = [after(text, at + 1, char), 'x'];
    else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop();
      const end = templateEnd(text, at + 1);
      if (text[end - 1] === '{') templates.push(0);
      [at, before] = [end, text[end - 1] === '{' ? '{' : 'x'];
    } else if (char === '/' && BEFORE.test(before)) {
      const end = regexpEnd(text, at + 1);
      const flags = /^[a-z]*/.exec(text.slice(end))?.[0] ?? '';
      found.push({ file, line: text.slice(0, at).split('\n').length, source: text.slice(at + 1, end - 1), flags });
      [at, before] = [end + flags.length, 'x'];
    } else {
      const open = templates.at(-1);
      if (open !== undefined && (char === '{' || char === '}'))
        templates[templates.length - 1] = open + (char === '{' ? 1 : -1);
      before = /\w/.test(char) && /\w$/.test(text.slice(0, at)) ? (before + char).slice(-12) : char;
      at += 1;
    }
  }
  return found;
}

function after(text: string, start: number, close: string): number {
  for (let at = start; at < text.length; at += 1) {
    if (text.startsWith(close, at)) return at + close.length;
    if (close.length === 1 && text[at] === '\\') at += 1;
  }
  return text.length;
}

/** Behind the text of a template: its end, or the brace that opens an expression. */
function templateEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '`') return at + 1;
    else if (text.startsWith('${', at)) return at + 2;
  }
  return text.length;
}

function regexpEnd(text: string, start: number): number {
  let inClass = false;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
    else if (text[at] === '/' && !inClass) return at + 1;
  }
  throw new Error('a regular expression does not end');
}
