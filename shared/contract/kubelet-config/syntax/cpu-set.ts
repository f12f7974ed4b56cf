/** Highest CPU number that makes sense; Linux is built for 8,192 CPUs at most. */
const MAX_CPU = 1_000_000;

/**
 * Reads a list of CPUs as Linux and the kubelet write it: `0-3,7`.
 *
 * @param descending whether `3-0` is let through as an empty range, as kubelets up to 1.21 did
 * @returns the CPUs that it names (none for the empty text), or undefined where it is no such list
 */
export function parseCpus(text: string, descending = false): ReadonlySet<number> | undefined {
  const cpus = new Set<number>();
  if (text === '') return cpus;
  for (const part of text.split(',')) {
    const match = /^\+?(\d+)(?:-\+?(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (last > MAX_CPU || (last < first && !descending)) return undefined;
    for (let cpu = first; cpu <= last; cpu += 1) cpus.add(cpu);
  }
  return cpus;
}

/** @returns how many CPUs it names; see `parseCpus` */
export function countCpus(text: string, descending = false): number | undefined {
  return parseCpus(text, descending)?.size;
}
