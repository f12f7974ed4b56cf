/** Highest end of a range that is followed; Linux is built for 8,192 CPUs at most. */
const MAX_CPU = 65_535;
const INT64_MAX = 2n ** 63n - 1n;
/** Digits, leading zeros among them. */
const LONGEST_NUMBER = 1_024;

/**
 * Reads a list of CPUs as Linux and the kubelet write it: `0-3,7`.
 *
 * @param careless as kubelets up to 1.21 did it: `3-0` is an empty range, and so is whatever has two dashes
 * @returns the CPUs that it names (none for the empty text), or undefined for any other text
 */
export function parseCpus(text: string, careless = false): ReadonlySet<number> | undefined {
  if (text === '') return new Set();
  const ranges: (readonly [number, number])[] = [];
  for (const part of text.split(',')) {
    if (careless && part.split('-', 3).length > 2) continue;
    const match = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const [, start = '', end = start] = match;
    const [first, last] = [Number(start), Number(end)];
    if (exceeds(start) || exceeds(end)) return undefined;
    if ((last > MAX_CPU && last > first) || (last < first && !careless)) return undefined;
    ranges.push([first, last]);
  }
  return unionOf(ranges);
}

const exceeds = (digits: string): boolean => digits.length > LONGEST_NUMBER || BigInt(digits) > INT64_MAX;

/** Each number once, however often ranges name it: a thousand times all of them is no more work than once. */
function unionOf(ranges: readonly (readonly [number, number])[]): ReadonlySet<number> {
  const cpus = new Set<number>();
  let next = 0;
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    // Far up a number and the next one are the same, and no range goes there.
    if (last > MAX_CPU) cpus.add(last);
    else for (let cpu = Math.max(first, next); cpu <= last; cpu += 1) cpus.add(cpu);
    next = Math.max(next, Math.min(last, MAX_CPU) + 1);
  }
  return cpus;
}

/** @returns how many CPUs it names; see `parseCpus` */
export function countCpus(text: string, careless = false): number | undefined {
  return parseCpus(text, careless)?.size;
}
