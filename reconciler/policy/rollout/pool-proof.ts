import { identityIn, identityText } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolStatus, SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { DesiredPool } from '../desired.ts';
import { type Group, type Member, soakOf, targetOf } from './membership.ts';
import { hasProved, isRecordOfTarget, type NodeTarget, provenConfigOf, sameTarget } from './node-progress.ts';
import { witnessedRollout } from './witnessed-rollout.ts';
import {
  type ClassRecord,
  ONLY_CLASS,
  type PoolProof,
  type ProofOf,
  type Rendered,
  readProof,
  NOTHING_SHOWN,
} from '../proof/record.ts';

/** What a pool's record says, and how far it is to be believed. */
export interface KnownRecord {
  readonly status: KubeletPoolStatus | undefined;
  /** This leader wrote it, and the API server answered with it. */
  readonly isOwn: boolean;
  /** What the commits in it render; none of a commit that was not read. */
  readonly rendered?: Rendered | undefined;
}

export function poolProof(group: Group, { status, isOwn, rendered }: KnownRecord, now: Millis): PoolProof {
  const { pool } = group;
  const isLost = status?.proof === undefined;
  const record = isLost ? remade(group) : readProof(status);
  const last = status?.rollout;
  const written = last !== undefined && isRecordOfTarget(last, targetOf(pool)) ? last : undefined;
  const hasIt = (member: Member, soakMs: Millis): boolean => isWitness(member, member.target, soakMs, now);
  const rollout = isOwn || written === undefined ? written : witnessedRollout(written, group, hasIt);
  const isOver = rollout?.finishedAt !== undefined;
  const classes = isOwn || isLost ? record : narrowed(record, witnessesIn(group, isOver, now));
  const byPayload = new Map([...classes.values()].map((known) => [known.proven?.sha256 ?? '', known]));
  const recordOf = ({ node, kubeletNode }: ProofOf): ClassRecord | undefined =>
    // A node whose class has another name under the present template is known by what it has proven.
    classes.get(classNameOf(pool, node.name)) ?? byPayload.get(provenConfigOf(kubeletNode)?.sha256 ?? 'none');
  const settled = isOwn ? status?.settled : shownSettled(status?.settled, pool, classes, isOver);
  const isSettled = last !== undefined && settled !== undefined && isRecordOfTarget(last, identityIn(settled));
  return {
    classes,
    // What is made again is written first.
    provenFor: (member) => (isLost ? null : (recordOf(member)?.proven ?? null)),
    revertTo: (member) => {
      const { proven = null, former = null, commit } = recordOf(member) ?? {};
      // Under the present payload there is nothing to go back to.
      const isPresent = sameTarget(former, presentOf(pool, member.node.name));
      if (proven !== null || former === null || commit === undefined || isPresent) return proven;
      const isRendered = rendered?.get(commit)?.has(former.sha256);
      return isRendered === undefined ? 'unread' : isRendered ? former : null;
    },
    isProven: (node, target) =>
      !isLost && target !== null && sameTarget(classes.get(classNameOf(pool, node))?.proven ?? null, target),
    rollout,
    last: rollout ?? (isOwn || isSettled ? last : undefined),
    settled,
    rendered,
  };
}

/** What nodes show of it: that the rollout of the present payload is over, or that all of them are of one class, which has proven it. */
function shownSettled(
  settled: SettledConfig | undefined,
  pool: DesiredPool | null,
  classes: ReadonlyMap<string, ClassRecord>,
  isOver: boolean,
): SettledConfig | undefined {
  if (settled === undefined) return undefined;
  const shown = [isOver ? targetOf(pool) : null, classes.get(ONLY_CLASS)?.proven ?? null];
  return shown.some((target) => target !== null && isRecordOfTarget(settled, target)) ? settled : undefined;
}

const classOf = ({ payloadClass }: Member): string => payloadClass?.name ?? ONLY_CLASS;

/** The class that a node is in, where only its name is known. */
const classNameOf = (pool: DesiredPool | null, node: string): string =>
  pool?.classes === undefined ? ONLY_CLASS : (pool.classes.byNode.get(node)?.name ?? ONLY_CLASS);

/** What the pool says that a node is to run. */
const presentOf = (pool: DesiredPool | null, node: string): NodeTarget =>
  pool?.classes === undefined ? targetOf(pool) : (pool.classes.byNode.get(node)?.target ?? null);

/** The node has this config behind it, soak included, whether it can be asked now or not. */
function isWitness({ kubeletNode }: Member, target: NodeTarget, soakMs: Millis, now: Millis): boolean {
  const promotedAt = fromTimestamp(kubeletNode?.status?.promotedAt);
  return hasProved(kubeletNode, target) && (promotedAt === undefined || now - promotedAt >= soakMs);
}

/** By class, what at least one of its nodes has behind it; of the present payload, once its rollout is over. */
function witnessesIn(group: Group, isOver: boolean, now: Millis): ReadonlyMap<string, readonly NodeTarget[]> {
  const soakMs = soakOf(group.pool);
  const found = new Map<string, NodeTarget[]>();
  for (const member of group.members) {
    const name = classOf(member);
    const target = provenConfigOf(member.kubeletNode);
    const known = found.get(name) ?? [];
    if (target === null || known.some((each) => sameTarget(each, target))) continue;
    if (!isOver && sameTarget(target, member.target)) continue;
    if (isWitness(member, target, soakMs, now)) found.set(name, [...known, target]);
  }
  return found;
}

function narrowed(
  record: ReadonlyMap<string, ClassRecord>,
  witnesses: ReadonlyMap<string, readonly NodeTarget[]>,
): ReadonlyMap<string, ClassRecord> {
  return new Map(
    [...record].map(([name, known]) => {
      const { proven } = known;
      const isShown = proven === null || witnesses.get(name)?.some((each) => sameTarget(each, proven)) === true;
      return [name, isShown ? known : { ...known, state: 'unproven', proven: null, former: proven }];
    }),
  );
}

/** A lost record: by class, what more than half of those nodes have promoted that were not told the present payload, which has waves to go. */
function remade({ members }: Group): ReadonlyMap<string, ClassRecord> {
  const found = new Map<string, ClassRecord>();
  for (const [name, own] of Map.groupBy(members, classOf)) {
    const others = own.filter(({ isAssigned, target }) => !isAssigned && target !== null);
    const counted = new Map<string, number>();
    for (const { kubeletNode } of others) {
      const proven = provenConfigOf(kubeletNode);
      const word = proven === null ? '' : identityText(proven);
      counted.set(word, (counted.get(word) ?? 0) + 1);
      if (proven === null || (counted.get(word) ?? 0) * 2 <= others.length) continue;
      found.set(name, { ...NOTHING_SHOWN, name, proven });
    }
  }
  return found;
}
