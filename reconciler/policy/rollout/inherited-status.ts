import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPoolStatus, SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import type { Fleet } from '../fleet.ts';
import { type Group, targetOf } from './membership.ts';
import { assignmentOf, hasProved, isRecordOfTarget, sameTarget } from './node-progress.ts';

type Seen = Pick<Fleet, 'pools' | 'configSources'>;

/**
 * The status of a pool as decisions take it. A pool that was renamed, or split from another one, never settled on anything under its
 * own name: what all of its nodes bring with them and have proven is what a revert goes back to. And a payload that stopped the pool
 * that they come from stops this one: under another name it is the same payload.
 *
 * @param at now, as a timestamp
 */
export function withInheritedStatus(
  group: Group,
  before: KubeletPoolStatus | undefined,
  seen: Seen,
  at: string,
): KubeletPoolStatus | undefined {
  const hasHistory = before?.settled !== undefined || before?.rollout !== undefined;
  if (hasHistory || (group.pool?.config ?? null) === null) return before;
  const settled = broughtAlong(group, at);
  const halt = before?.halt ?? haltBroughtAlong(group, seen);
  if (settled === undefined && halt === undefined) return before;
  return { ...before, ...(settled && { settled }), ...(halt && { halt }) };
}

/** Of the pools that the nodes were in, or whose config they still have: a node may be in its new pool before that has a status. */
function haltBroughtAlong({ pool, members }: Group, { pools, configSources }: Seen): Halt | undefined {
  const target = targetOf(pool);
  const origins = new Set(
    members.flatMap(({ kubeletNode }) => {
      const { pool: own, configSource } = kubeletNode?.spec ?? {};
      return [own, configSources.get(configSource?.name ?? '')?.pool];
    }),
  );
  origins.delete(pool?.name);
  const halts = [...origins].flatMap((name) => pools.get(name ?? '')?.status?.halt ?? []);
  return target === null ? undefined : halts.find((halt) => isRecordOfTarget(halt, target));
}

/**
 * The status without a config that it says the pool settled on, where no node has it: others may write the status, and nothing that
 * no node has is assigned on its word.
 *
 * @param had SHA-256 and way of applying of what nodes were told or have proven, as `witnessed` gives them
 */
export function withConfirmedSettled(
  before: KubeletPoolStatus | undefined,
  had: ReadonlySet<string>,
): KubeletPoolStatus | undefined {
  if (before?.settled === undefined) return before;
  const { settled, ...rest } = before;
  if (settled.classes === undefined) return had.has(wordOf(settled.sha256, settled.apply)) ? before : rest;
  const classes = settled.classes.filter(({ sha256 }) => had.has(wordOf(sha256, settled.apply)));
  return classes.length === 0 ? rest : { ...rest, settled: { ...settled, classes } };
}

/** What any node was told, or has proven. */
export function configsOnNodes(nodes: Iterable<KubeletNode>): ReadonlySet<string> {
  // Thousands of nodes have the same few, and to put one into words costs more than to look it up.
  const had = new Map<string, Set<string>>([
    ['overlay', new Set()],
    ['replace', new Set()],
  ]);
  for (const { spec, status } of nodes) {
    const [told, proved] = [spec?.configSource, status?.lastKnownGood];
    if (told !== undefined) had.get(spec?.apply ?? 'overlay')?.add(told.sha256);
    if (proved?.sha256 !== undefined) had.get(proved.apply ?? 'overlay')?.add(proved.sha256);
  }
  return new Set([...had].flatMap(([apply, hashes]) => [...hashes].map((sha256) => wordOf(sha256, apply))));
}

const wordOf = (sha256: string, apply: string = 'overlay'): string => `${apply} ${sha256}`;

function broughtAlong({ members }: Group, at: string): SettledConfig | undefined {
  // The first ones may have been told the pool's own payload in the same moment.
  const others = members.filter(({ isAssigned }) => !isAssigned);
  const node = others[0]?.kubeletNode;
  const name = node?.spec?.configSource?.name;
  const common = assignmentOf(node);
  if (common === null || name === undefined) return undefined;
  const haveIt = others.every(
    ({ kubeletNode }) => sameTarget(assignmentOf(kubeletNode), common) && hasProved(kubeletNode, common),
  );
  return haveIt ? { configName: name, sha256: common.sha256, apply: common.apply, at } : undefined;
}
