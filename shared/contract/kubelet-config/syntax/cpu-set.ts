/** Highest end of a range that is followed; Linux is built for 8,192 CPUs at most. */
const MAX_CPU = 1_000_000;
const INT64_MAX = 2n ** 63n - 1n;

/**
 * Reads a list of CPUs as Linux and the kubelet write it: `0-3,7`.
 *
 * @param careless as kubelets up to 1.21 did it: `3-0` is an empty range, and so is whatever has two dashes
 * @returns the CPUs that it names (none for the empty text), or undefined where it is no such list
 */
export function parseCpus(text: string, careless = false): ReadonlySet<number> | undefined {
  const cpus = new Set<number>();
  if (text === '') return cpus;
  for (const part of text.split(',')) {
    if (careless && part.split('-').length > 2) continue;
    const match = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const [, start = '', end = start] = match;
    if (BigInt(start) > INT64_MAX || BigInt(end) > INT64_MAX) return undefined;
    const first = Number(start);
    const last = Number(end);
    if ((last > MAX_CPU && last > first) || (last < first && !careless)) return undefined;
    for (let cpu = first; cpu <= last; cpu += 1) cpus.add(cpu);
  }
  return cpus;
}

/** @returns how many CPUs it names; see `parseCpus` */
export function countCpus(text: string, careless = false): number | undefined {
  return parseCpus(text, careless)?.size;
}
