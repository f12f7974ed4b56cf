import { identityText } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolStatus, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { DesiredPool } from '../desired.ts';
import { cohortOf } from './cohort.ts';
import { type Group, isConfigurable, type Member, soakOf, targetOf } from './membership.ts';
import { hasProved, isRecordOfTarget, type NodeTarget, provenConfigOf, sameTarget } from './node-progress.ts';
import { wavesOf } from './waves.ts';
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
  const { pool, members } = group;
  const isLost = status?.proof === undefined && status?.settled === undefined;
  const record = isLost ? remade(group) : readProof(status);
  const known = status?.rollout;
  const written = known !== undefined && isRecordOfTarget(known, targetOf(pool)) ? known : undefined;
  const rollout = isOwn || written === undefined ? written : witnessed(written, group, members, now);
  const isOver = rollout?.finishedAt !== undefined;
  const classes = isOwn || isLost ? record : narrowed(record, witnessesIn(group, isOver, now));
  const byPayload = new Map([...classes.values()].map((known) => [known.proven?.sha256 ?? '', known]));
  const recordOf = ({ node, kubeletNode }: ProofOf): ClassRecord | undefined =>
    // A node whose class has another name under the present template is known by what it has proven.
    classes.get(classNameOf(pool, node.name)) ?? byPayload.get(provenConfigOf(kubeletNode)?.sha256 ?? 'none');
  return {
    classes,
    // What is made again is written first.
    provenFor: (member) => (isLost ? null : (recordOf(member)?.proven ?? null)),
    revertTo: (member) => {
      const { proven = null, former = null, commit } = recordOf(member) ?? {};
      if (proven !== null || former === null || commit === undefined) return proven;
      const isRendered = rendered?.get(commit)?.has(former.sha256);
      return isRendered === undefined ? 'unread' : isRendered ? former : null;
    },
    isProven: (node, target) =>
      !isLost && target !== null && sameTarget(classes.get(classNameOf(pool, node))?.proven ?? null, target),
    rollout,
    rendered,
  };
}

const classOf = ({ payloadClass }: Member): string => payloadClass?.name ?? ONLY_CLASS;

/** The class that a node is in, where only its name is known. */
const classNameOf = (pool: DesiredPool | null, node: string): string =>
  pool?.classes === undefined ? ONLY_CLASS : (pool.classes.byNode.get(node)?.name ?? ONLY_CLASS);

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

/** A rollout of which only those waves are done that enough nodes show. A verdict that lets others begin is found again, unless all of it is over. */
function witnessed(rollout: RolloutStatus, group: Group, all: readonly Member[], now: Millis): RolloutStatus {
  const { pool } = group;
  if (pool === null) return rollout;
  const { members } = cohortOf(all.filter(isConfigurable), rollout, pool.spec.rollout.canary);
  const waves = wavesOf(pool.spec.rollout, members);
  let isShown = true;
  const shown = rollout.waves.map((wave) => {
    const { name, soakMs, nodes, only = () => true } = waves.find((each) => each.name === wave.name) ?? NO_WAVE;
    const concerned = members.filter(only);
    const proved = concerned.filter((member) => isWitness(member, member.target, soakMs, now)).length;
    const isEnough = name === 'rest' ? proved > members.length / 2 : proved >= Math.min(nodes, concerned.length);
    isShown &&= wave.doneAt !== undefined && isEnough && proved > 0;
    if (isShown || wave.doneAt === undefined) return wave;
    const { doneAt: _, ...rest } = wave;
    return { ...rest, state: 'soaking' as const };
  });
  if (isShown) return rollout;
  const { finishedAt: _, analysis, ...rest } = rollout;
  const isOpen = analysis?.verdict === 'waiting' || analysis?.verdict === 'suspect';
  return { ...rest, waves: shown, ...(isOpen ? { analysis } : {}) };
}

const NO_WAVE = { name: '', soakMs: 0, nodes: Number.POSITIVE_INFINITY, only: undefined };

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
