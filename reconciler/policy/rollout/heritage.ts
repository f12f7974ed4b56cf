import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus, SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import type { Group, Member } from './membership.ts';
import { assignmentOf, hasProved, type NodeTarget, sameTarget } from './standing.ts';

/**
 * The status of a pool as decisions take it. A pool that was renamed, or split from another one, never settled on anything under its
 * own name: what all of its nodes bring with them and have proved is what a revert goes back to.
 *
 * @param at now, as a timestamp
 */
export function withHeritage(
  group: Group,
  before: KubeletPoolStatus | undefined,
  at: string,
): KubeletPoolStatus | undefined {
  const hasHistory = before?.settled !== undefined || before?.rollout !== undefined;
  if (hasHistory || (group.pool?.config ?? null) === null) return before;
  const settled = broughtAlong(group, at);
  return settled === undefined ? before : { ...before, settled };
}

/**
 * The status without a config that it says the pool settled on, where no node has it: others may write the status, and nothing that
 * no node has is assigned on its word.
 *
 * @param had SHA-256 and way of applying of what nodes were told or have proved, as `witnessed` gives them
 */
export function withWitnesses(
  before: KubeletPoolStatus | undefined,
  had: ReadonlySet<string>,
): KubeletPoolStatus | undefined {
  if (before?.settled === undefined) return before;
  const { settled, ...rest } = before;
  return had.has(wordOf(settled.sha256, settled.apply)) ? before : rest;
}

/** What any node was told, or has proved. */
export const witnessed = (nodes: Iterable<KubeletNode>): ReadonlySet<string> =>
  new Set(
    [...nodes].flatMap(({ spec, status }) => {
      const [told, proved] = [spec?.configSource, status?.lastKnownGood];
      return [
        ...(told === undefined ? [] : [wordOf(told.sha256, spec?.apply)]),
        ...(proved?.sha256 === undefined ? [] : [wordOf(proved.sha256, proved.apply)]),
      ];
    }),
  );

const wordOf = (sha256: string, apply: string = 'overlay'): string => `${apply} ${sha256}`;

function broughtAlong({ members }: Group, at: string): SettledConfig | undefined {
  // The first ones may have been told the pool's own payload in the same moment.
  const others = members.filter(({ wasTold }) => !wasTold);
  const node = others[0]?.kubeletNode;
  const name = node?.spec?.configSource?.name;
  const common = assignmentOf(node);
  if (common === null || name === undefined) return undefined;
  const haveIt = others.every(
    ({ kubeletNode }) => sameTarget(assignmentOf(kubeletNode), common) && hasProved(kubeletNode, common),
  );
  return haveIt ? { configName: name, sha256: common.sha256, apply: common.apply, at } : undefined;
}

/** A config of ours that a node falls back to. */
export interface FallsBackTo {
  readonly configName: string;
  readonly target: NonNullable<NodeTarget>;
}

/** What a node ran before it was told this target, where it knows that still: null once it has proved the target, or ran its local config. */
export function ranBefore({ kubeletNode }: Member, target: NodeTarget): FallsBackTo | null {
  const { name = '', sha256, apply = 'overlay' } = kubeletNode?.status?.lastKnownGood ?? {};
  if (sha256 === undefined || sameTarget({ sha256, apply }, target)) return null;
  return { configName: name, target: { sha256, apply } };
}
