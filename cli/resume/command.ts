import { suspensionAt } from '#reconciler/policy/suspension.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools } from '../pools/annotate-pool.ts';
import { ALL_OPTION, checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';

export const RESUME: Command = {
  name: 'resume',
  summary: 'lets a suspended pool go on',
  takes: 'POOL...|--all',
  mostWords: MOST_POOLS,
  about: [
    'The rollout goes on where it stopped, with the newest commit. A halt stays a halt: see release.',
    'What is suspended in git (suspend: true in pool.yaml or in clusters/CLUSTER.yaml) is resumed there.',
    'Exit code 1 where a pool is still suspended in its pool.yaml.',
  ],
  options: { ...POOL_OPTIONS, ...ALL_OPTION },
  examples: ['kubelet-gitops resume general', 'kubelet-gitops resume --all --context prod'],
  run: runResume,
};

async function runResume(given: Given, io: Io): Promise<ExitCode> {
  const now = systemClock.now();
  checkChoice(given, true);
  const pools = await annotatePools(given, io, (pool) => resumption(pool, now));
  return pools.some(({ spec }) => spec?.suspend === true) ? 1 : 0;
}

function resumption(pool: KubeletPool, now: Millis): AnnotationChange {
  const { spec } = pool;
  const before = suspensionAt(pool, now)?.says;
  const inGit =
    spec?.suspend === true
      ? '; pool.yaml says suspend: true, so it stays suspended until that is taken out in git'
      : '';
  if (before === undefined) return { say: `is not suspended${inGit}` };
  const reason = before === '' ? '' : `; it was suspended because: ${before}`;
  return { write: { verb: 'resume', annotation: SUSPEND_ANNOTATION, value: null }, say: `resumed${reason}${inGit}` };
}
