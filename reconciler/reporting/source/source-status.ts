import type { KubeletSource, KubeletSourceStatus, RefusedCommitStatus } from '#shared/contract/api/kubelet-source.ts';
import { formatFinding, isWarningLine } from '#shared/contract/finding.ts';
import { firstLines } from '#shared/runtime/first-few.ts';
import { type ConditionNow, settleConditions } from '../../policy/pool-status/pool-status.ts';
import { followingStanding } from '../../policy/following/describe-following.ts';
import { readFollowing } from '../../policy/following/record.ts';
import { readFindings } from '../notes/recorded-findings.ts';
import { fitMessage, type SourceState, withoutEmpty, writeSourceState } from '../notes/source-state.ts';
import type { PassResult } from '../pass-result.ts';

/** What a pass found out about the branch. */
export interface SourceFacts extends Pick<PassResult, 'source' | 'desired' | 'tip' | 'readAt'> {
  /** The folder that is followed; '' for the whole repository. */
  readonly path: string;
}

const MOST_LINES = 5;

/**
 * Status of the KubeletSource: a pure function of what a pass found out and of what was said before.
 *
 * @param present as it is in the cluster; a process that has not read the branch yet knows no more than it says
 * @param at      RFC 3339
 */
export function sourceStatus(facts: SourceFacts, present: KubeletSource | undefined, at: string): KubeletSourceStatus {
  const { source, path } = facts;
  const generation = present?.metadata.generation;
  const tried = attempted(facts, present?.status, at);
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...withoutEmpty({
      path,
      shortCommit: short(source.commit),
      shortAttempted: short(tried.lastAttemptedCommit ?? ''),
    }),
    ...writeSourceState(source),
    ...tried,
    ...refusedIn(facts, present?.status),
    conditions: settleConditions(conditionsOf(facts, present?.status), present, at),
  };
}

type Attempted = Pick<KubeletSourceStatus, 'lastAttemptedCommit' | 'lastAttemptedTip' | 'lastAttemptedAt'>;

/** A commit that was read and not judged yet does not count. */
function attempted({ source, tip, readAt }: SourceFacts, before: Attempted = {}, at: string): Attempted {
  const { lastAttemptedCommit, lastAttemptedTip, lastAttemptedAt } = before;
  if (tip === null || !isJudged(tip.oid, source)) {
    return {
      ...(lastAttemptedCommit && { lastAttemptedCommit }),
      ...(lastAttemptedTip && { lastAttemptedTip }),
      ...(lastAttemptedAt && { lastAttemptedAt }),
    };
  }
  return {
    lastAttemptedCommit: tip.oid,
    lastAttemptedTip: readAt ?? tip.oid,
    lastAttemptedAt: (lastAttemptedCommit === tip.oid ? lastAttemptedAt : undefined) ?? at,
  };
}

const isJudged = (oid: string, { commit, refusedCommit }: SourceState): boolean =>
  oid === commit || oid === refusedCommit;

/** Besides what is recorded: who wrote it. */
function refusedIn(
  { source, tip }: SourceFacts,
  before: KubeletSourceStatus | undefined,
): { readonly refused?: RefusedCommitStatus } {
  const { refused } = writeSourceState(source);
  if (refused === undefined) return {};
  const known = before?.refused?.commit === refused.commit ? before.refused : undefined;
  const { subject = '', author = '' } =
    tip?.oid === refused.commit ? { subject: tip.subject, author: tip.author.name } : (known ?? {});
  return { refused: { ...refused, ...withoutEmpty({ subject, author }) } };
}

/** Where the branch stands, in one word. A person has to act on a stalled one; the rest passes by itself. */
interface Standing {
  readonly is: 'ready' | 'reconciling' | 'stalled';
  readonly reason: string;
  readonly message: string;
}

function conditionsOf(facts: SourceFacts, before: KubeletSourceStatus | undefined): readonly ConditionNow[] {
  const { is, reason, ...standing } = standingOf(facts, before);
  const message = fitMessage(standing.message);
  const condition = (type: string, holds: boolean): ConditionNow => ({
    type,
    status: holds ? 'True' : 'False',
    reason,
    message,
  });
  return [
    condition('Ready', is === 'ready'),
    condition('Reconciling', is === 'reconciling'),
    condition('Stalled', is === 'stalled'),
    ...followingIn(facts.source),
  ];
}

/** Of a cluster that follows others. Waiting for them is in order, so that the other conditions say nothing of it. */
function followingIn({ following }: SourceState): readonly ConditionNow[] {
  const record = readFollowing(following);
  if (!record) return [];
  const { reason, message } = followingStanding(record);
  const status = reason === 'NotesUnreadable' || reason === 'NotesUntrusted' ? 'False' : 'True';
  return [{ type: 'Following', status, reason, message: fitMessage(message) }];
}

function standingOf(facts: SourceFacts, before: KubeletSourceStatus | undefined): Standing {
  const { source, tip } = facts;
  const { commit, subject, refusedCommit, refusedBecause, failure, failingSince } = source;
  if (refusedCommit !== '') {
    const message = `commit ${short(refusedCommit)} is refused: ${refusedBecause}${stays(commit)}`;
    return { is: 'stalled', reason: 'CommitRefused', message };
  }
  const errors = tip === null ? errorsBefore(source, before) : errorsIn(facts);
  if (errors !== undefined) return { is: 'stalled', ...errors };
  if (failure !== '') {
    const message = `git fails since ${failingSince}: ${failure}${stays(commit)}`;
    return { is: 'reconciling', reason: 'GitFails', message };
  }
  if (tip === null || !isJudged(tip.oid, source)) {
    return { is: 'reconciling', reason: 'NotRead', message: `the branch is being read${stays(commit)}` };
  }
  return { is: 'ready', reason: 'InForce', message: `commit ${short(commit)} is in force: ${subject}` };
}

const short = (oid: string): string => oid.slice(0, 12);
const stays = (commit: string): string => (commit === '' ? '' : `; ${short(commit)} stays in force`);

type Errors = Pick<Standing, 'reason' | 'message'>;

/** What the commit in force says and cannot be done: a finding or a conflict a line, with its place. */
function errorsIn({ source, desired }: SourceFacts): Errors | undefined {
  const ofPools = [...desired.pools.values()].flatMap(({ findings }) => findings);
  const inFiles = [...desired.findings, ...ofPools].filter(({ severity }) => severity === 'error').map(formatFinding);
  const recorded = readFindings(source.findings).filter((line) => !isWarningLine(line));
  const lines = [...new Set([...inFiles, ...recorded])];
  if (lines.length === 0) return undefined;
  const reason = inFiles.length === 0 ? 'NodesLeftAlone' : 'ConfigRefused';
  return { reason, message: firstLines(lines, MOST_LINES) };
}

/** Of the same commit, as it was said before a restart. */
function errorsBefore({ commit }: SourceState, before: KubeletSourceStatus | undefined): Errors | undefined {
  const stalled = before?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');
  if (stalled === undefined || stalled.reason === 'CommitRefused' || before?.commit !== commit) return undefined;
  return { reason: stalled.reason, message: stalled.message };
}
