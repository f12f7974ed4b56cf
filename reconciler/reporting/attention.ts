import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { isWarningLine } from '#shared/contract/finding.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { awaitedLines } from '../policy/pool-status/approval-lines.ts';
import { formatFailedWrite } from '../policy/pool-status/failed-write-line.ts';
import { haltLines } from '../policy/pool-status/halt-lines.ts';
import { nodeTrouble, silence, type TroubleKind } from '../policy/pool-status/node-trouble.ts';
import { runbookOf } from '../policy/runbook.ts';
import { annotatedSuspension, suspensionAt } from '../policy/suspension.ts';
import { readFindings } from './notes/recorded-findings.ts';
import type { SourceState } from './notes/source-state.ts';

export type AttentionKind =
  | 'git-failing'
  | 'commit-refused'
  | 'commit-faulty'
  | 'pool-halted'
  | 'pool-invalid'
  | 'pool-paused'
  | 'pool-suspended'
  | 'write-failing'
  | 'agent-silent'
  | `node-${TroubleKind}`;

/** Something that a person has to know of, in the words in which every screen says it. */
export interface Attention {
  readonly kind: AttentionKind;
  /** Of the node, or the pool where no node is meant; of the repository, the first digits of the commit, or nothing. */
  readonly name: string;
  /** Clauses: what is wrong, and what there is to say of it besides. */
  readonly lines: readonly [string, ...string[]];
  /** The page that says what to do; absent where no alert is for it. */
  readonly runbook?: string;
  /** Nothing counts as settled while it lasts. */
  readonly isUnsettling: boolean;
}

/** What the cluster's own objects say. */
export interface ClusterObjects {
  readonly source: Pick<SourceState, 'refusedCommit' | 'refusedBecause' | 'failure' | 'failingSince' | 'findings'>;
  readonly pools: readonly KubeletPool[];
  readonly nodes: readonly KubeletNode[];
}

/**
 * The one judgement of what needs a person, for the exit code of `status`, for `doctor` and for the status page: of the repository, then of
 * pools, then of nodes. Pure.
 *
 * @param now absent where neither silence matters, which pools count, nor whether a suspension is over
 */
export function attentionOf({ source, pools, nodes }: ClusterObjects, now?: Millis): readonly Attention[] {
  return [
    ...ofSource(source),
    ...pools.flatMap((pool) => ofPool(pool, now)),
    ...nodes.flatMap((node) => ofNode(node, now)),
  ];
}

function ofSource(source: ClusterObjects['source']): readonly Attention[] {
  const { refusedCommit, refusedBecause, failure, failingSince } = source;
  const faults = faultsIn(source);
  const [first, ...more] = faults;
  const about = { name: '', isUnsettling: true } as const;
  const failing = `git fails since ${failingSince}: ${failure}`;
  return [
    ...(failure === ''
      ? []
      : [{ ...about, kind: 'git-failing', lines: [failing], runbook: runbookOf('GitStale') } as const]),
    ...(refusedCommit === ''
      ? []
      : [
          {
            ...about,
            kind: 'commit-refused',
            name: refusedCommit.slice(0, 12),
            lines: [refusedBecause],
            runbook: runbookOf('CommitRefused'),
          } as const,
        ]),
    ...(first === undefined ? [] : [{ ...about, kind: 'commit-faulty', lines: [first, ...more] } as const]),
  ];
}

/** What the commit in force says that cannot be used. Warnings alone keep nothing from being done, as in its note. */
export const faultsIn = ({ findings }: Pick<SourceState, 'findings'>): readonly string[] =>
  readFindings(findings).filter((line) => !isWarningLine(line));

function ofPool(pool: KubeletPool, now: Millis | undefined): readonly Attention[] {
  const { metadata, status = {} } = pool;
  const { halt, unwritten = [] } = status;
  const about = { name: metadata.name, isUnsettling: true } as const;
  const suspension = suspensionLine(pool, now);
  const invalid = invalidity(pool);
  return [
    ...(halt === undefined
      ? []
      : [{ ...about, kind: 'pool-halted', lines: [status.message ?? halt.message, ...haltLines(status)] } as const]),
    ...(invalid === undefined
      ? []
      : [
          { ...about, kind: 'pool-invalid', lines: linesOf(invalid), runbook: runbookOf('PoolConfigInvalid') } as const,
        ]),
    ...awaitedLines(metadata.name, status).map((line): Attention => ({
      ...about,
      kind: 'pool-paused',
      lines: [line],
      runbook: runbookOf('WaitsForApproval'),
    })),
    // Somebody meant it, and what is settled is so nevertheless.
    ...(suspension === null
      ? []
      : [{ ...about, kind: 'pool-suspended', lines: [suspension], isUnsettling: false } as const]),
    ...unwritten.map((write): Attention => ({
      ...about,
      name: write.node ?? metadata.name,
      kind: 'write-failing',
      lines: [formatFailedWrite(write)],
      runbook: runbookOf('WritesRefused'),
    })),
  ];
}

const linesOf = (text: string): Attention['lines'] => {
  const [first = '', ...more] = text.split('\n');
  return [first, ...more];
};

/** Who holds a pool up, whether or not there is something to do in it; null: no person. */
export function suspensionLine(pool: KubeletPool, now: Millis | undefined): string | null {
  const suspension = now === undefined ? annotatedSuspension(pool) : suspensionAt(pool, now);
  if (suspension !== null) return suspension.says === '' ? 'without a reason' : suspension.says;
  return pool.spec?.suspend === true ? 'pool.yaml says so' : null;
}

/** What the pool's commit says that cannot be used; undefined where all of it can. */
export const invalidity = ({ status }: KubeletPool): string | undefined =>
  status?.conditions?.find(({ type, status: is }) => type === 'ConfigValid' && is === 'False')?.message;

function ofNode(node: KubeletNode, now: Millis | undefined): readonly Attention[] {
  const about = { name: node.metadata.name };
  const silent = now === undefined ? null : silence(node, now);
  if (silent !== null) {
    const runbook = runbookOf('AgentsSilent');
    return [{ ...about, kind: 'agent-silent', lines: [silent], runbook, isUnsettling: false }];
  }
  const trouble = nodeTrouble(node);
  if (trouble === null) return [];
  const { kind, message, runbook } = trouble;
  return [{ ...about, kind: `node-${kind}`, lines: [message], runbook, isUnsettling: true }];
}
