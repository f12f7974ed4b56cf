import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { commitRelease, mayBeReleased } from '#reconciler/reporting/notes/recorded-commits.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectWith } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools, annotatorFor } from '../pools/annotate-pool.ts';
import { checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';
import { readReason } from '../pools/read-reason.ts';
import { wrapFor } from '../wrap.ts';

export const RELEASE: Command = {
  name: 'release',
  summary: 'lets a halted pool try the failed config again, without a commit',
  takes: 'POOL...|--commit [COMMIT]',
  mostWords: MOST_POOLS,
  about: [
    'Use it when the config is not to blame: a registry was down, or a machine broke. The failed nodes are forgiven, and the\n' +
      'rollout goes on; a node that fails from now on counts again. It holds for this halt alone.',
    'If the config is at fault, fix or revert it in git; that ends the halt, too.',
    '--commit is for a commit that is refused because reconcilers ended while they read it, and is not to blame: it is read once\n' +
      'more, and refused again if it ends three more of them.',
    '--commit COMMIT, its full name, is for a cluster that follows others: it comes into force before these have settled it, if it\n' +
      'is ahead of the one in force, and limits and signatures let it. Who did it and why is in an Event and in its note.',
    'Exit code 1 where a pool is not halted, no commit is refused for that, the cluster follows no other, or COMMIT is refused.',
  ],
  options: {
    ...POOL_OPTIONS,
    commit: { type: 'boolean', about: 'the commit whose reading reconcilers did not survive, or COMMIT, not a pool' },
    because: { type: 'string', value: 'TEXT', about: 'why COMMIT does not wait; required with it' },
  },
  examples: [
    'kubelet-gitops release general',
    'kubelet-gitops release --commit',
    'kubelet-gitops release --commit $(git rev-parse HEAD) --because "staging is gone"',
  ],
  run: runRelease,
};

async function runRelease(given: Given, io: Io): Promise<ExitCode> {
  if (given.flag('commit')) return releaseCommit(given, io);
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

async function releaseCommit(given: Given, io: Io): Promise<ExitCode> {
  const [named, ...others] = given.words;
  if (others.length > 0) throw new UsageError('name pools, or say --commit');
  if (named !== undefined) return letThrough(named, given, io);
  const annotate = await annotatorFor(await connectWith(given, io));
  let code: ExitCode = 1;
  const said = await annotate(KUBELET_SOURCES, SOURCE_NAME, (latest) => {
    const { status }: KubeletSource = latest;
    const { commit = '', reason: refusedReason = '', message = '' } = status?.refused ?? {};
    code = mayBeReleased({ refusedReason }) ? 0 : 1;
    if (commit === '') return { say: 'no commit is refused: there is nothing to release' };
    const short = commit.slice(0, 12);
    if (code === 1) return { say: `commit ${short} is refused for another reason, which no release ends: ${message}` };
    return {
      write: {
        verb: 'release',
        annotation: RELEASE_ANNOTATION,
        value: commitRelease(commit, toTimestamp(systemClock.now())),
      },
      say: `commit ${short} is released: within a minute it is read once more`,
    };
  });
  io.out.write(wrapFor(io.out)(`${said}\n`));
  return code;
}

async function letThrough(commit: string, given: Given, io: Io): Promise<ExitCode> {
  if (!/^[0-9a-f]{40}$/.test(commit))
    throw new UsageError(`${commit} is not the full name of a commit: write what git rev-parse says`);
  const because = readReason(given);
  const annotate = await annotatorFor(await connectWith(given, io));
  let code: ExitCode = 1;
  const said = await annotate(KUBELET_SOURCES, SOURCE_NAME, (latest) => {
    const { status }: KubeletSource = latest;
    const short = commit.slice(0, 12);
    if (!status?.following) return { say: 'the cluster follows no other: no commit waits for one' };
    const { commit: refused, reason: refusedReason = '', message = '' } = status.refused ?? {};
    code = refused === commit && !mayBeReleased({ refusedReason }) ? 1 : 0;
    if (code === 1) return { say: `commit ${short} is refused, which no release ends: ${message}` };
    if (status.commit === commit) return { say: `commit ${short} is in force already` };
    const value = commitRelease(commit, toTimestamp(systemClock.now()), because);
    return {
      write: { verb: 'release', annotation: RELEASE_ANNOTATION, value },
      say: `commit ${short} is released: if it is ahead of the one in force, and limits and signatures let it, it comes into force within a minute`,
    };
  });
  io.out.write(wrapFor(io.out)(`${said}\n`));
  return code;
}
