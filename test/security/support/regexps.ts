import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as Recheck from 'recheck';

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
  const text = readFileSync(file, 'utf8').replace(/^#!.*/, '');
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

/** The regular expressions that a file puts together while it is loaded. */
export async function builtIn(file: string): Promise<readonly Literal[]> {
  const built: Literal[] = [];
  const native = globalThis.RegExp;
  globalThis.RegExp = new Proxy(native, {
    construct(target, args: [string, string?], newTarget) {
      const made = Reflect.construct(target, args, newTarget) as RegExp;
      built.push({ file, line: 0, source: made.source, flags: made.flags });
      return made;
    },
  });
  try {
    // A query, because it may be loaded already.
    await import(`${pathToFileURL(file).href}?built`);
  } finally {
    globalThis.RegExp = native;
  }
  return built;
}

/** How long one may take to be proven: on a busy machine nothing comes of less. */
const PROOF_MS = 120_000;

/**
 * Whether no text makes an expression take more than time in proportion to its length, as far as `recheck` can prove it. What is
 * sticky is tried at one place only.
 */
export async function isLinear(source: string, flags: string): Promise<boolean> {
  // Its own programs for single platforms are not installed, and do the same.
  process.env['RECHECK_BACKEND'] = 'pure';
  const { check } = createRequire(import.meta.url)('recheck') as Pick<typeof Recheck, 'check'>;
  const sticky = flags.includes('y');
  const { status } = await check(sticky ? `^(?:${source})` : source, flags.replace('y', ''), { timeout: PROOF_MS });
  return status === 'safe';
}
