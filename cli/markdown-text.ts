import { oneLine } from './one-line.ts';

/** Longest that forges take as one comment (65,536 at GitHub), with room for what wraps it. */
export const MOST_CHARACTERS = 60_000;

/**
 * Text of others must not become markup, nor a link, nor call anybody. Forges make links also of addresses and of names behind a sign,
 * whatever backslash is before them; a space without width keeps them from it.
 */
export const escapeMarkdown = (text: string): string =>
  oneLine(text)
    .replaceAll(/[\\`*_{}[\]<>|~$&]/g, '\\$&')
    // What begins a heading or a list at the start of a line.
    .replace(/^(\s*\d*)([#+=.)-])/, '$1\\$2')
    .replaceAll(/:(?=\/\/)|@|www(?=\.)|\bGH-(?=\d)|[#!](?=\w)/gi, '$&\u200B');

/** A longer value would leave no room for others. */
const MOST_IN_CODE = 2_000;

/** What is between fences of more backticks than the text has in a row stays text. */
export function code(text: string): string {
  const plain = text.length <= MOST_IN_CODE ? oneLine(text) : `${oneLine(text.slice(0, MOST_IN_CODE))}…`;
  const longest = longestRun(plain);
  const [fence, space] = ['`'.repeat(longest + 1), longest === 0 ? '' : ' '];
  // Two backticks with nothing between them would begin what others end.
  return `${fence}${space}${plain === '' ? ' ' : plain}${space}${fence}`;
}

/** Lines that stay as they are. */
export function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

const longestRun = (text: string): number => Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));

/** Within a table a bar ends a cell even in code, unless an odd number of backslashes is before it. */
export const cell = (text: string): string =>
  code(text).replaceAll(/\\+\|?|\|/g, (bar) => (bar.length % 2 === 1 ? bar.replace('|', '\\|') : bar));
