import { MOVED_SINCE_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import type { Step } from '../steps.ts';
import { limitOf } from './amount.ts';
import { type Hold, hold } from './holds/hold.ts';
import { kubeletNodeOf, targetFor } from './membership.ts';
import { assignmentOf, sameTarget } from './standing.ts';

/** A node whose labels put it into no pool keeps what it has for so long: labels come late to new nodes, and get lost by mistake. */
export const LABEL_GRACE_MS: Millis = 10 * 60_000;

/** What nodes keep although no pool selects them, or another one. */
export interface LabelGuard {
  /** By node name, why it does not get now what its labels ask for. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** What to tell people where more nodes lost their labels, or have others, than may be unassigned; null where not. */
  readonly warning: string | null;
}

const MOST_NAMES = 3;

/**
 * Guards nodes against their own labels, as `maxUnassign` guards them against commits: where more nodes have lost theirs than it allows,
 * none is unassigned until the labels are back or a commit allows more. As many may move to another pool by their labels alone, in
 * the turns of that pool; where more would, none does. What a commit changed of pools was judged with that commit.
 */
export function guardLabels(desired: Desired, fleet: Fleet, now: Millis): LabelGuard {
  const lost = guardLosses(desired, fleet, now);
  const moved = guardMoves(desired, fleet);
  const warnings = [lost.warning, moved.warning].filter((warning) => warning !== null);
  return {
    holds: new Map([...lost.holds, ...moved.holds]),
    warning: warnings.length === 0 ? null : warnings.join('; '),
  };
}

/** Nodes that would get another config because somebody changed their labels, and nobody a file. */
function guardMoves(desired: Desired, fleet: Fleet): LabelGuard {
  const moved = [...fleet.nodes.values()].filter((node) => getsAnother(node, desired, fleet));
  const assigned = assignedIn(fleet);
  const allowed = allowedIn(desired, assigned);
  if (moved.length <= allowed) return NOTHING_HELD;
  const message =
    `the labels of ${moved.length} of ${assigned} assigned nodes put them into another pool ` +
    `(${examplesOf(moved)}), no commit does, and maxUnassign allows ${allowed}: they keep their configs. ` +
    'Restore the labels; or, if this is meant, raise spec.maxUnassign in clusters/<cluster>.yaml';
  const each = hold('relabelled', message);
  return { holds: new Map(moved.map(({ name }) => [name, each])), warning: message };
}

/** A pool with the same config restarts nothing, and a node that was told nothing has nothing to lose. */
function getsAnother(node: NodeView, { pools }: Desired, fleet: Fleet): boolean {
  if (node.moved?.by !== 'labels') return false;
  const has = assignmentOf(kubeletNodeOf(node, fleet));
  return has !== null && !sameTarget(has, targetFor(pools.get(node.moved.to), node.name));
}

const NOTHING_HELD: LabelGuard = { holds: new Map(), warning: null };

const assignedIn = (fleet: Fleet): number =>
  [...fleet.nodes.values()].filter((node) => hasConfig(kubeletNodeOf(node, fleet))).length;

/** By the commit in force and by the one before: what loosens the limit does not use it. */
const allowedIn = ({ policy: { maxUnassign, former } }: Desired, assigned: number): number =>
  Math.min(limitOf(maxUnassign, assigned), limitOf(former?.maxUnassign ?? '100%', assigned));

const examplesOf = (nodes: readonly NodeView[]): string => {
  const names = nodes.slice(0, MOST_NAMES).map(({ name }) => name);
  return `${names.join(', ')}${nodes.length > names.length ? ' …' : ''}`;
};

function guardLosses(desired: Desired, fleet: Fleet, now: Millis): LabelGuard {
  const lost = [...fleet.nodes.values()].filter((node) => isGuarded(node, fleet));
  const assigned = assignedIn(fleet);
  const allowed = allowedIn(desired, assigned);
  if (lost.length > allowed) {
    const message =
      `${lost.length} of ${assigned} assigned nodes have lost the labels that put them into a pool ` +
      `(${examplesOf(lost)}), and maxUnassign allows ${allowed}: they keep their configs. ` +
      'Restore the labels; or, if this is meant, raise spec.maxUnassign in clusters/<cluster>.yaml';
    const each = hold('unselected', message);
    return { holds: new Map(lost.map(({ name }) => [name, each])), warning: message };
  }
  const holds = lost.flatMap((node): readonly (readonly [string, Hold])[] =>
    isInGrace(node, now) ? [[node.name, graceOf(node)]] : [],
  );
  return { holds: new Map(holds), warning: null };
}

/** Whether the labels of a node may yet come, or come back. */
export const isInGrace = ({ unselected }: NodeView, now: Millis): boolean =>
  unselected?.by === 'labels' && now - unselected.since < LABEL_GRACE_MS;

function graceOf({ unselected }: NodeView): Hold {
  const until = toTimestamp((unselected?.since ?? 0) + LABEL_GRACE_MS);
  return hold('unselected', `no pool selects it; it keeps its config until ${until}, in case its labels come back`);
}

/** It has a config of a pool, and it is its labels that no pool selects. */
const isGuarded = (node: NodeView, fleet: Fleet): boolean =>
  node.unselected?.by === 'labels' && hasConfig(kubeletNodeOf(node, fleet));

/** It was told a config; or it runs one, and its new or recreated KubeletNode says nothing yet. */
function hasConfig(node: KubeletNode | undefined): boolean {
  const runs = node?.status?.active?.name ?? LOCAL;
  return assignmentOf(node) !== null || (node !== undefined && node.spec === undefined && runs !== LOCAL);
}

/**
 * Keeps over restarts since when nodes are without a pool, where anything depends on it (a config, or the taint of a new node), and
 * since when their labels put them into another one.
 */
export function rememberLabelLosses(fleet: Fleet): readonly Step[] {
  return [...fleet.nodes.values()].flatMap((node): readonly Step[] => {
    const present = kubeletNodeOf(node, fleet);
    if (present === undefined) return [];
    const { unselected, moved } = node;
    const matters = unselected?.by === 'labels' && (hasConfig(present) || node.gated === true);
    const wanted = {
      [UNSELECTED_SINCE_ANNOTATION]: matters ? toTimestamp(unselected.since) : undefined,
      [MOVED_SINCE_ANNOTATION]: moved?.by === 'labels' && hasConfig(present) ? toTimestamp(moved.since) : undefined,
    };
    const known = present.metadata.annotations ?? {};
    const news = Object.entries(wanted).filter(([name, since]) => known[name] !== since);
    if (news.length === 0) return [];
    const annotations = Object.fromEntries(news.map(([name, since]) => [name, since ?? null]));
    return [{ step: 'remember', node: node.name, present, annotations }];
  });
}
