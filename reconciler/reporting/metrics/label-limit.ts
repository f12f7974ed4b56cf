/** What a label shows of a word that comes from outside. */
export type Words = (word: string) => string;

/** Beyond those that agents know; a release that is newer may know more. */
const MOST = 60;

/**
 * Keeps the number of a label's values bounded: each value is a series that Prometheus keeps. An agent on a node that
 * an attacker took over may report any reason, and a new one each time.
 */
export function createLabelLimit(most: number = MOST): Words {
  const known = new Set<string>();
  return (word) => {
    if (known.has(word)) return word;
    if (known.size >= most || !/^[A-Z][A-Za-z]{1,39}$/.test(word)) return 'Other';
    known.add(word);
    return word;
  };
}
