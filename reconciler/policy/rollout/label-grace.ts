import { MOVED_SINCE_ANNOTATION, UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import { CLUSTER_FILE } from '../config-repo/read-cluster.ts';
import type { Step } from '../steps.ts';
import { limitOf } from './amount.ts';
import { type Hold, hold } from './holds/hold.ts';
import { kubeletNodeOf } from '../kubelet-node-of.ts';
import { targetFor } from './membership.ts';
import { assignmentOf, sameTarget } from './node-progress.ts';

/** A node whose labels put it into no pool keeps what it has for so long: labels come late to new nodes, and get lost by mistake. */
export const LABEL_GRACE_MS: Millis = 10 * 60_000;

/** What nodes keep although no pool selects them, or another one. */
export interface LabelGrace {
  /** By node name, why it does not get now what its labels ask for. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** What to tell people where more nodes lost their labels, or have others, than may be unassigned; null where not. */
  readonly warning: string | null;
}

const MOST_NAMES = 3;

/**
 * Guards nodes against their own labels, as `maxUnassign` guards them against commits: where more nodes have lost theirs than it allows,
 * none is unassigned until the labels are back or a commit allows more. As many may move to another pool by their labels alone, in
 * the turns of that pool, or to another class of their own pool ten minutes later; where more would, none does. What a commit changed of
 * pools was judged with that commit.
 */
export function holdForLabelGrace(desired: Desired, fleet: Fleet, now: Millis): LabelGrace {
  const lost: NodeView[] = [];
  const moved: NodeView[] = [];
  for (const node of fleet.nodes.values()) {
    if (isGuarded(node, fleet)) lost.push(node);
    if (getsAnother(node, desired, fleet)) moved.push(node);
  }
  if (lost.length === 0 && moved.length === 0) return NOTHING_HELD;
  const assigned = assignedIn(fleet);
  const bounds = { assigned, allowed: allowedIn(desired, assigned), advice: restoreOrRaise(desired) };
  const [losses, moves] = [guardLosses(lost, bounds, now), guardMoves(moved, fleet, bounds, now)];
  const warnings = [losses.warning, moves.warning].filter((warning) => warning !== null);
  return {
    holds: new Map([...losses.holds, ...moves.holds]),
    warning: warnings.length === 0 ? null : warnings.join('; '),
  };
}

interface Bounds {
  /** How many nodes were told a config. */
  readonly assigned: number;
  /** How many of them may lose it or get another one by their labels. */
  readonly allowed: number;
  /** What to do where more do. */
  readonly advice: string;
}

/** @param moved nodes that would get another config because somebody changed their labels, and nobody a file */
function guardMoves(
  moved: readonly NodeView[],
  fleet: Fleet,
  { assigned, allowed, advice }: Bounds,
  now: Millis,
): LabelGrace {
  const reclassed = moved.filter((node) => isReclassed(node, fleet));
  if (moved.length <= allowed) {
    const waiting = reclassed.filter(({ poolChange: since }) => now - (since?.since ?? 0) < LABEL_GRACE_MS);
    return { holds: new Map(waiting.map((node) => [node.name, reclassGraceOf(node)])), warning: null };
  }
  const where = reclassed.length === 0 ? 'pool' : reclassed.length === moved.length ? CLASS : `pool or ${CLASS}`;
  const message =
    `the labels of ${moved.length} of ${assigned} assigned nodes put them into another ${where} ` +
    `(${examplesOf(moved)}), no commit does, and maxUnassign allows ${allowed}: they keep their configs. ` +
    advice;
  const each = hold('relabelled', message);
  return { holds: new Map(moved.map(({ name }) => [name, each])), warning: message };
}

const CLASS = 'class of machines';

/** It stays in its pool, and a label that an expression names has another value. */
const isReclassed = ({ name, poolChange }: NodeView, { kubeletNodes }: Fleet): boolean =>
  kubeletNodes.get(name)?.spec?.pool === poolChange?.to;

function reclassGraceOf({ poolChange }: NodeView): Hold {
  const until = toTimestamp((poolChange?.since ?? 0) + LABEL_GRACE_MS);
  const because = `its labels put it into another ${CLASS}; it keeps its config until ${until}, in case they change back`;
  return hold('relabelled', because);
}

/** A pool with the same config restarts nothing, and a node that was told nothing has nothing to lose. */
function getsAnother(node: NodeView, { pools }: Desired, fleet: Fleet): boolean {
  if (node.poolChange?.by !== 'labels') return false;
  const has = assignmentOf(kubeletNodeOf(node, fleet));
  return has !== null && !sameTarget(has, targetFor(pools.get(node.poolChange.to), node.name));
}

const NOTHING_HELD: LabelGrace = { holds: new Map(), warning: null };

function assignedIn(fleet: Fleet): number {
  let assigned = 0;
  for (const node of fleet.nodes.values()) if (hasConfig(kubeletNodeOf(node, fleet))) assigned += 1;
  return assigned;
}

/** By the commit in force and by the one before: what loosens the limit does not use it. */
const allowedIn = ({ policy: { maxUnassign, former } }: Desired, assigned: number): number =>
  Math.min(limitOf(maxUnassign, assigned), limitOf(former?.maxUnassign ?? '100%', assigned));

const restoreOrRaise = ({ policy }: Desired): string =>
  `Restore the labels; or, if this is meant, raise spec.maxUnassign in ${policy.file ?? CLUSTER_FILE}`;

const examplesOf = (nodes: readonly NodeView[]): string => {
  const names = nodes.slice(0, MOST_NAMES).map(({ name }) => name);
  return `${names.join(', ')}${nodes.length > names.length ? ' …' : ''}`;
};

/** @param lost nodes with a config whose labels no pool selects any more */
function guardLosses(lost: readonly NodeView[], { assigned, allowed, advice }: Bounds, now: Millis): LabelGrace {
  if (lost.length > allowed) {
    const message =
      `${lost.length} of ${assigned} assigned nodes have lost the labels that put them into a pool ` +
      `(${examplesOf(lost)}), and maxUnassign allows ${allowed}: they keep their configs. ` +
      advice;
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
  const steps: Step[] = [];
  for (const node of fleet.nodes.values()) {
    const present = kubeletNodeOf(node, fleet);
    if (present === undefined) continue;
    const annotations = newsOf(node, present);
    if (annotations !== null) steps.push({ step: 'remember', node: node.name, present, annotations });
  }
  return steps;
}

/** What is to be written of one node; null for nothing, as of nearly all. */
function newsOf(node: NodeView, present: KubeletNode): Readonly<Record<string, string | null>> | null {
  const { unselected, poolChange, gated } = node;
  const { [UNSELECTED_SINCE_ANNOTATION]: knownLost, [MOVED_SINCE_ANNOTATION]: knownMoved } =
    present.metadata.annotations ?? NONE;
  const matters = unselected?.by === 'labels' && (hasConfig(present) || gated === true);
  const lost = matters ? toTimestamp(unselected.since) : undefined;
  const other = poolChange?.by === 'labels' && hasConfig(present) ? toTimestamp(poolChange.since) : undefined;
  if (lost === knownLost && other === knownMoved) return null;
  return {
    ...(lost === knownLost ? {} : { [UNSELECTED_SINCE_ANNOTATION]: lost ?? null }),
    ...(other === knownMoved ? {} : { [MOVED_SINCE_ANNOTATION]: other ?? null }),
  };
}

const NONE: Readonly<Record<string, string>> = {};
