import { readFileSync } from 'node:fs';

/** The fenced blocks of a page that are marked as this language, without the indentation of a list they may stand in. */
export function fencedBlocks(page: string, language: string): readonly string[] {
  const fenced = readFileSync(page, 'utf8').matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm);
  return [...fenced].flatMap(([, indent = '', marked, text = '']) =>
    marked === language ? [text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}
