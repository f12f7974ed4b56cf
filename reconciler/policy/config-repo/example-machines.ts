import { formatFinding, type Finding } from '#shared/contract/finding.ts';
import type { Machine } from '../templates/machine.ts';
import { poolOfClass, unrendered } from './pool-of-class.ts';
import type { ValidPool } from './loaded-repo.ts';

const GIBIBYTE = 2 ** 30;

/** Machines that a pool with computed values is judged for before anybody knows its nodes: cores, GiB of memory and of disk. */
const EXAMPLES: readonly Machine[] = (
  [
    [2, 4, 32],
    [4, 16, 64],
    [16, 64, 128],
    [64, 256, 512],
    [192, 1536, 4096],
  ] as const
).map(([cpu, memory, disk]) => ({
  cpu,
  memory: memory * GIBIBYTE,
  ephemeralStorage: disk * GIBIBYTE,
  maxPods: 110,
  numaNodes: cpu > 16 ? 2 : 1,
  arch: 'amd64',
  labels: {},
}));

/** The pool as one of the examples gets it, for a check without nodes; a pool without computed values is that itself. */
export function examplePoolOf(pool: ValidPool): ValidPool {
  if (pool.template === undefined) return pool;
  return EXAMPLES.map((machine) => poolOfClass(pool, machine).pool).find((found) => found !== undefined) ?? pool;
}

type Config = ValidPool['value'];

/**
 * What is wrong with a pool's config on one machine or another. Labels are the cluster's: where the examples would need some, nothing is
 * said before there are nodes.
 */
export function judgeOnExamples(pool: ValidPool, judge: (config: Config) => readonly Finding[]): readonly Finding[] {
  const asksLabels = pool.template?.inputs.variables.has('labels') === true;
  const found = EXAMPLES.flatMap((machine) => {
    const rendered = poolOfClass(pool, machine);
    if (rendered.pool !== undefined) return judge(rendered.pool.value);
    return asksLabels ? [] : unrendered(pool, rendered);
  });
  return [...new Map(found.map((finding) => [formatFinding(finding), finding])).values()];
}
