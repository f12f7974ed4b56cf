import { momentIn, momentOf, suspendedUntil, suspensionAt } from '#reconciler/policy/suspension.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools } from '../pools/annotate-pool.ts';
import { readReason } from '../pools/read-reason.ts';
import { ALL_OPTION, checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';

export const SUSPEND: Command = {
  name: 'suspend',
  summary: 'stops new changes in pools until resume, or for some time',
  takes: 'POOL...|--all',
  mostWords: MOST_POOLS,
  about: [
    'Nodes in the middle of a change finish it, or take it back by themselves. Everything else goes on: commits are read,\n' +
      'failures are counted, status and notes are written.',
    'With --until the pool goes on by itself at that time, by the clock of the reconciler; resume ends it earlier.',
    '--all does not suspend pools that are added later: for those, commit suspend: true in clusters/CLUSTER.yaml.',
  ],
  options: {
    ...POOL_OPTIONS,
    ...ALL_OPTION,
    until: {
      type: 'string',
      value: 'TIME',
      about: 'when it ends by itself, as 2026-11-22T10:00:00Z, or from now on, as 4h (default: at resume)',
    },
    because: { type: 'string', value: 'TEXT', about: 'why, for whoever looks at the pool next; required' },
  },
  examples: [
    'kubelet-gitops suspend general --because "incident 4711: nodes lose their network"',
    'kubelet-gitops suspend general --until 4h --because "the storage is slow today"',
    'kubelet-gitops suspend --all --context prod --because "storage is being moved"',
  ],
  run: runSuspend,
};

async function runSuspend(given: Given, io: Io): Promise<ExitCode> {
  const now = systemClock.now();
  checkChoice(given, true);
  const until = untilOf(given.text('until'), now);
  const reason = readReason(given);
  // As it is read back: the pool would go on then.
  if (momentIn(reason) !== null) throw new UsageError('--because begins with a time: say it with --until');
  const because = until === undefined ? reason : suspendedUntil(until, reason);
  await annotatePools(given, io, (pool) => suspension(pool, because, now));
  return 0;
}

function untilOf(text: string | undefined, now: Millis): Millis | undefined {
  if (text === undefined) return undefined;
  const span = parseDuration(text);
  const until = span === undefined ? momentOf(text) : now + span;
  // A year of five digits is none that a timestamp has.
  if (until === undefined || until >= Date.UTC(10_000))
    throw new UsageError(`--until ${text}: write a time as 2026-11-22T10:00:00Z, or a duration as 4h or 90m`);
  if (until <= now) throw new UsageError(`--until ${text}: that is over already`);
  return until;
}

function suspension(pool: KubeletPool, because: string, now: Millis): AnnotationChange {
  const before = suspensionAt(pool, now)?.says;
  if (before === because) return { say: `is suspended already (${because})` };
  const replaced = before === undefined || before === '' ? '' : `; it was already, because: ${before}`;
  return {
    write: { verb: 'suspend', annotation: SUSPEND_ANNOTATION, value: because },
    say: `suspended (${because})${replaced}`,
  };
}
