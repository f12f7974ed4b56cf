/** `a, b, c and 2 more`. */
export function firstFew(texts: readonly string[], most = 3, between = ', '): string {
  const more = texts.length > most ? ` and ${texts.length - most} more` : '';
  return `${texts.slice(0, most).join(between)}${more}`;
}

/** The same line by line. */
export function firstLines(lines: readonly string[], most: number): string {
  const more = lines.length > most ? [`and ${lines.length - most} more`] : [];
  return [...lines.slice(0, most), ...more].join('\n');
}
