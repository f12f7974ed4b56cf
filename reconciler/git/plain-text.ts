/** Controls, direction marks, invisible and private characters, half surrogates, exotic line ends. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
const ALL_UNSEEN = new RegExp(UNSEEN.source, 'gu');
const ALL_UNSEEN_BUT_LAYOUT = new RegExp(`(?![\\n\\t])${UNSEEN.source}`, 'gu');

/** Whether the text holds characters that a reader cannot see or that reorder what he sees. */
export function hasInvisible(text: string): boolean {
  return UNSEEN.test(text);
}

/** One line that a terminal shows as it is written: text of strangers, for logs and status. Half a character is never left at its end. */
export function plainLine(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').replace(ALL_UNSEEN, '').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Text with its line breaks and tabs, and nothing else that is not seen. */
export function plainText(text: string): string {
  return text.replace(ALL_UNSEEN_BUT_LAYOUT, '');
}

/** The same text with everything unseen spelled out: `a\u{202e}b`. */
export function escapeInvisible(text: string): string {
  return text.replace(ALL_UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
