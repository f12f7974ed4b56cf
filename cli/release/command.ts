import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools } from '../pools/annotate-pool.ts';
import { checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';

export const RELEASE: Command = {
  name: 'release',
  summary: 'lets a halted pool try the failed config again, without a commit',
  takes: 'POOL...',
  mostWords: MOST_POOLS,
  about: [
    'Use it when the config is not to blame: a registry was down, or a machine broke. The failed nodes are forgiven, and the\n' +
      'rollout goes on; a node that fails from now on counts again. It holds for this halt alone.',
    'If the config is at fault, fix or revert it in git; that ends the halt, too.',
    'Exit code 1 where a pool is not halted.',
  ],
  options: POOL_OPTIONS,
  examples: ['kubelet-gitops release general'],
  run: runRelease,
};

async function runRelease(given: Given, io: Io): Promise<ExitCode> {
  checkChoice(given, false);
  const pools = await annotatePools(given, io, release);
  return pools.every(isHalted) ? 0 : 1;
}

const isHalted = ({ status }: KubeletPool): boolean => (status?.halt ?? null) !== null;

function release({ metadata, status }: KubeletPool): AnnotationChange {
  const halt = status?.halt ?? undefined;
  if (halt === undefined) return { say: 'is not halted: there is nothing to release' };
  const value = releaseValue(halt);
  if (metadata.annotations?.[RELEASE_ANNOTATION] === value) {
    return { say: `${halt.config} is released already; the reconciler has yet to see it` };
  }
  return {
    write: { verb: 'release', annotation: RELEASE_ANNOTATION, value },
    say: `${halt.config} is released; it was halted at ${halt.at}: ${halt.message}`,
  };
}
