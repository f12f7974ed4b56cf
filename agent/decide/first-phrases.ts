const MOST = 3;

/** The first of many phrases, for a readable message: `a; b; c (and 4 more)`. */
export function firstPhrases(phrases: readonly string[]): string {
  const more = phrases.length > MOST ? ` (and ${phrases.length - MOST} more)` : '';
  return `${phrases.slice(0, MOST).join('; ')}${more}`;
}
