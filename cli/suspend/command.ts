import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools } from '../pools/annotate-pool.ts';
import { readReason } from '../pools/read-reason.ts';
import { ALL_OPTION, checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';

export const SUSPEND: Command = {
  name: 'suspend',
  summary: 'stops new changes in pools until resume',
  takes: 'POOL...|--all',
  mostWords: MOST_POOLS,
  about: [
    'Nodes in the middle of a change finish it, or take it back by themselves. Everything else goes on: commits are read,\n' +
      'failures are counted, status and notes are written.',
    '--all does not suspend pools that are added later: for those, commit suspend: true in clusters/CLUSTER.yaml.',
  ],
  options: {
    ...POOL_OPTIONS,
    ...ALL_OPTION,
    because: { type: 'string', value: 'TEXT', about: 'why, for whoever looks at the pool next; required' },
  },
  examples: [
    'kubelet-gitops suspend general --because "incident 4711: nodes lose their network"',
    'kubelet-gitops suspend --all --context prod --because "storage is being moved"',
  ],
  run: runSuspend,
};

async function runSuspend(given: Given, io: Io): Promise<ExitCode> {
  checkChoice(given, true);
  const because = readReason(given);
  await annotatePools(given, io, ({ metadata }) => suspension(metadata.annotations ?? {}, because));
  return 0;
}

function suspension(annotations: Readonly<Record<string, string>>, because: string): AnnotationChange {
  const before = annotations[SUSPEND_ANNOTATION];
  if (before === because) return { say: `is suspended already (${because})` };
  const replaced = before === undefined || before === '' ? '' : `; it was already, because: ${before}`;
  return {
    write: { verb: 'suspend', annotation: SUSPEND_ANNOTATION, value: because },
    say: `suspended (${because})${replaced}`,
  };
}
