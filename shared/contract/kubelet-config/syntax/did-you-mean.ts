/** The known word that an unknown one was probably meant to be; undefined where none is near. */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const words = [...known];
  const wanted = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(wanted.length / 4));
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const candidate of words) {
    // Short words are all alike: cpu is not gpu.
    if (wanted.length < 4 && candidate[0]?.toLowerCase() !== wanted[0]) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? beginningWith(wanted, words);
}

/** Shortest beginning that says enough, in characters. */
const MIN_BEGINNING = 6;

/** The one known word that goes on where the other one stops. */
function beginningWith(wanted: string, known: readonly string[]): string | undefined {
  if (wanted.length < MIN_BEGINNING) return undefined;
  const longer = known.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  return longer.length === 1 ? longer[0] : undefined;
}

/** The known word that differs only in the case of its letters. */
export function sameButCase(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  for (const candidate of known) if (candidate.toLowerCase() === wanted) return candidate;
  return undefined;
}

/**
 * Levenshtein distance with swaps of neighbours counted as one (optimal string alignment).
 *
 * @param limit distances from here on all count as this one
 */
export function editDistance(a: string, b: string, limit = Infinity): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      current.push(cost);
    }
    if (Math.min(...current) >= limit) return limit;
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? limit;
}
