import type { ConfigReference, KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';

/** How a node stands to what a revision renders for it. */
export interface RevisionState {
  /**
   * `in-place`: the node runs it. `not-yet`: it is in force, and the node is on its way or waits. `failed-here`: the node took it back.
   * `not-in-force`: the cluster follows another commit. `unknown`: not asked, or no agent reported.
   */
  readonly standing: 'in-place' | 'not-yet' | 'failed-here' | 'not-in-force' | 'unknown';
  /** Why, for people; null where the node runs it, or nothing is known. */
  readonly because: string | null;
}

export interface RevisionStateQuestion {
  /** What the revision renders for the node's pool; null where no pool has the node. */
  readonly wanted: Pick<ValidPool, 'configName' | 'sha256' | 'spec'> | null;
  /** Its commit. */
  readonly revision: string;
  /** What the reconciler says of commits; null if not read. */
  readonly source: SourceState | null;
  /** Null where there is none, or it was not read. */
  readonly node: KubeletNode | null;
  /** What the planner says of the node; undefined if not asked. */
  readonly reason: NodeReason | undefined;
}

/** Says whether the node runs what a revision renders, and why not: a flag is to blame only if it does. Pure. */
export function revisionState({ wanted, revision, source, node, reason }: RevisionStateQuestion): RevisionState {
  const { active, rejected = [] } = node?.status ?? {};
  if (wanted === null || active === undefined) return { standing: 'unknown', because: null };
  // Fields that are kept follow lists that change nothing by themselves.
  const isIt = ({ sha256, apply = 'overlay' }: Partial<ConfigReference>): boolean =>
    sha256 === wanted.sha256 && apply === wanted.spec.apply;
  if (isIt(active)) return { standing: 'in-place', because: null };
  const { configName } = wanted;
  const failed = rejected.find(isIt);
  if (failed !== undefined) {
    return { standing: 'failed-here', because: `${configName} failed here (${failed.reason}) and is not tried again` };
  }
  const { configSource: assigned = null, apply } = node?.spec ?? {};
  if (assigned !== null && isIt({ ...assigned, ...(apply && { apply }) })) {
    return { standing: 'not-yet', because: `${configName} is assigned, and the node is still applying it` };
  }
  if (source !== null && source.commit !== '' && source.commit !== revision) {
    return { standing: 'not-in-force', because: notInForce(revision, source) };
  }
  const has = assigned === null ? 'no config is assigned' : `${assigned.name} is assigned`;
  const waits = reason === undefined ? 'kubelet-gitops status --why says what it waits for' : reason.because;
  return { standing: 'not-yet', because: `${has}, and this revision renders ${configName}: ${waits}` };
}

function notInForce(revision: string, source: SourceState): string {
  const [asked, follows] = [short(revision), short(source.commit)];
  if (source.refusedCommit === revision) return `${asked} was refused: ${source.refusedBecause}`;
  const failing = source.failingSince === '' ? '' : `; git fails since ${source.failingSince}: ${source.failure}`;
  return `the cluster follows ${follows}, not ${asked}${failing}`;
}

const short = (oid: string): string => oid.slice(0, 12);
