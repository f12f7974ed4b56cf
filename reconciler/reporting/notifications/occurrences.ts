import type { HaltImpact, KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { BY_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { readClaim } from '#shared/contract/claim.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { causeLines, haltRunbook } from '../../policy/pool-status/halt-lines.ts';
import { approvalLine } from '../../policy/rollout/pause.ts';
import { runbookOf } from '../../policy/runbook.ts';
import { suspensionAt } from '../../policy/suspension.ts';
import { invalidity, suspensionLine } from '../attention.ts';
import { settledSentence } from '../events/pool-events.ts';
import type { SourceState } from '../notes/source-state.ts';
import { followingOccurrences } from './following-occurrences.ts';
import { about, errorsAmong, inForce, isFaultless, isSuspended, sourceOccurrences } from './source-occurrences.ts';
import type { CanWait, Notification, Occurrence } from './notification.ts';

/** What the notifications are made of. */
export interface Seen {
  /** The record of the commit in force, as it is after the pass. */
  readonly source: SourceState;
  readonly pools: readonly KubeletPool[];
  readonly now: Millis;
  /** This process has read the commit in force: what is not among its findings is not in it. */
  readonly isRead: boolean;
}

/** All that there is to tell of now, told before or not: of the repository, then of pools. Pure. */
export function occurrencesOf({ source, pools, now }: Seen): readonly Occurrence[] {
  const at = toTimestamp(now);
  return [
    ...sourceOccurrences(source, at),
    ...followingOccurrences(source, now),
    ...pools.flatMap((pool) => ofPool(pool, source, at)),
  ];
}

/** Places at which nothing holds any more, so that the same is news once it holds again: of no date that would tell the two apart. Pure. */
export const placesOver = ({ source, pools, now, isRead }: Seen): readonly string[] => [
  ...(isRead && isFaultless(source) ? ['/faulty'] : []),
  ...(isSuspended(source) ? [] : ['/suspended']),
  ...pools.filter((pool) => suspensionLine(pool, now) === null).map(({ metadata: { name } }) => `${name}/waits`),
];

/** A pool of which nothing can be told keeps the others from nothing. */
function ofPool(pool: KubeletPool, source: SourceState, at: string): readonly Occurrence[] {
  try {
    return [
      ...ofHalt(pool, at),
      ...ofInvalidity(pool, source, at),
      ...ofSuspension(pool, at),
      ...ofApprovals(pool),
      ...ofSettled(pool),
    ];
  } catch {
    return [];
  }
}

function ofHalt({ metadata: { name }, status = {} }: KubeletPool, now: string): readonly Occurrence[] {
  const { halt, impact, message } = status;
  if (halt === undefined) return [];
  const isRevert = halt.action === 'revert';
  const which = `${halt.sha256} ${halt.at}`;
  const { cause } = halt;
  const { mark, so } = impact === undefined ? STAGES.changing : STAGES[impact.risk];
  return [
    {
      marks: { [`${name}/halted`]: which, ...(mark === undefined ? {} : { [`${name}/${mark}`]: which }) },
      notification: {
        // What it has come to since is of now: told as of the halt, it would say that it was so then, and is told late.
        ...about(name, mark === undefined ? halt.at : now),
        kind: isRevert ? 'reverted' : 'halted',
        severity: impact?.risk === 'users' ? 'critical' : 'warning',
        title: `Pool ${name} ${isRevert ? 'goes back to what it settled on before' : 'is halted'}${so}`,
        lines: [message ?? halt.message, ...(cause === undefined ? [] : causeLines(cause, false))],
        canWait: canWaitOf(impact),
        ...(cause?.by === undefined ? {} : { commit: cause.by }),
        runbook: impact === undefined ? runbookOf('PoolHalted') : haltRunbook(impact),
      },
    },
  ];
}

interface Stage {
  readonly answer: CanWait['answer'];
  /** What is told once more when it becomes so. */
  readonly mark?: 'at-risk' | 'at-rest';
  /** Clause of the title. */
  readonly so: string;
}

/** What the impact of a halt says of waiting. */
const STAGES: Readonly<Record<HaltImpact['risk'], Stage>> = {
  users: { answer: 'no', mark: 'at-risk', so: ': pods are at risk' },
  changing: { answer: 'unknown', so: '' },
  none: { answer: 'yes', mark: 'at-rest', so: ', and at rest' },
};

const canWaitOf = (impact: HaltImpact | undefined): CanWait =>
  impact === undefined
    ? { answer: 'unknown', because: 'nothing is known yet of the nodes' }
    : { answer: STAGES[impact.risk].answer, because: impact.message };

function ofInvalidity(pool: KubeletPool, source: SourceState, now: string): readonly Occurrence[] {
  const { name } = pool.metadata;
  const invalid = invalidity(pool);
  if (invalid === undefined) return [];
  return [
    {
      // By the commit of before: it stays until the pool is valid again.
      marks: { [`${name}/refused`]: `${pool.status?.commit ?? ''} ${errorsAmong(invalid.split('\n'))}` },
      notification: {
        ...about(name, now),
        kind: 'refused',
        severity: 'warning',
        title: `Pool ${name} keeps what it has: the commit has errors in it`,
        lines: [...invalid.split('\n').slice(0, 5), 'no kubelet hears of it, and the other pools go on'],
        ...inForce(source),
        runbook: runbookOf('PoolConfigInvalid'),
      },
    },
  ];
}

function ofSuspension(pool: KubeletPool, now: string): readonly Occurrence[] {
  const { name, annotations = {} } = pool.metadata;
  const at = fromTimestamp(now) ?? 0;
  const because = suspensionLine(pool, at);
  if (because === null) return [];
  const claim = readClaim(annotations[BY_ANNOTATION], 'suspend', annotations[SUSPEND_ANNOTATION] ?? '');
  return [
    {
      marks: { [`${name}/waits`]: `suspended ${because} ${claim?.at ?? ''}` },
      notification: {
        ...about(name, now),
        kind: 'waits',
        severity: 'info',
        title: `Pool ${name} is suspended`,
        lines: [
          because,
          ...(claim === undefined ? [] : [`by ${claim.who}, according to their command line`]),
          ...endsOf(pool, at),
        ],
      },
    },
  ];
}

/** Until when a pool is suspended, and how a person ends it: by the command line, by git, or by both. */
function endsOf(pool: KubeletPool, now: Millis): readonly string[] {
  const resume = `kubelet-gitops resume ${pool.metadata.name}`;
  const annotated = suspensionAt(pool, now);
  if (annotated === null) return ['nothing new is started until a commit takes suspend: true out of it'];
  return [
    annotated.until === null
      ? `nothing new is started until a person resumes it: ${resume}`
      : `nothing new is started until ${toTimestamp(annotated.until)}; to end it now: ${resume}`,
    ...(pool.spec?.suspend === true ? ['pool.yaml says suspend: true as well, which a commit has to take out'] : []),
  ];
}

/** What a person is asked to let go on: waves of the rollout, and what a newer commit would give the pool. */
function ofApprovals({ metadata: { name }, status = {} }: KubeletPool): readonly Occurrence[] {
  return awaitedApprovals(status).map((asked) => ({
    marks: { [`${name}/approval${asked.wave === undefined ? '' : ` ${asked.wave}`}`]: approvalValue(asked) },
    notification: {
      ...about(name, asked.since),
      kind: 'waits',
      severity: 'warning',
      title: `Pool ${name} waits for your approval${asked.wave === undefined ? '' : ` after wave ${asked.wave}`}`,
      ...(asked.wave === undefined
        ? { lines: [approvalLine(name, asked)] }
        : ofRollout(status, approvalLine(name, asked))),
      runbook: runbookOf('WaitsForApproval'),
    },
  }));
}

/** How far the rollout is, and whose commit it is. */
const ofRollout = ({ message, rollout }: KubeletPoolStatus, line: string): Pick<Notification, 'lines' | 'commit'> => ({
  lines: message === undefined ? [line] : [line, message],
  ...(rollout?.by === undefined ? {} : { commit: rollout.by }),
});

function ofSettled({ metadata: { name }, status = {} }: KubeletPool): readonly Occurrence[] {
  const { phase, conditions = [], configName = '', sha256 = '', rollout } = status;
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (phase !== 'Settled' || ready?.status !== 'True' || configName === '') return [];
  return [
    {
      // Not by the time of the condition: a node that joins or reboots is no news of the config.
      marks: { [`${name}/settled`]: `${sha256} ${rollout?.startedAt ?? ''}` },
      notification: {
        ...about(name, rollout?.finishedAt ?? ready.lastTransitionTime),
        kind: 'settled',
        severity: 'info',
        title: `Pool ${name} is settled`,
        lines: [settledSentence(status)],
        ...(rollout?.by === undefined ? {} : { commit: rollout.by }),
      },
    },
  ];
}
