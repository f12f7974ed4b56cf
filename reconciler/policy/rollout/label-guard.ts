import { UNSELECTED_SINCE_ANNOTATION } from '#shared/contract/api/group.ts';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Desired } from '../desired.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import type { Step } from '../steps.ts';
import { limitOf } from './amount.ts';
import { type Hold, hold } from './holds/hold.ts';
import { isOwnedBy } from './membership.ts';
import { assignmentOf } from './standing.ts';

/** A node whose labels put it into no pool keeps what it has for so long: labels come late to new nodes, and get lost by mistake. */
export const LABEL_GRACE_MS: Millis = 10 * 60_000;

/** What nodes keep although no pool selects them. */
export interface LabelGuard {
  /** By node name, why it is not sent back to its local config now. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** What to tell people where more nodes lost their labels than may be unassigned; null where not. */
  readonly warning: string | null;
}

const MOST_NAMES = 3;

/**
 * Guards nodes against their own labels, as `maxUnassign` guards them against commits: where more nodes have lost theirs than it allows,
 * none is unassigned until the labels are back or a commit allows more. A pool that a commit took away was judged with that commit.
 */
export function guardLabels(desired: Desired, fleet: Fleet, now: Millis): LabelGuard {
  const lost = [...fleet.nodes.values()].filter((node) => isGuarded(node, fleet));
  if (lost.length === 0) return { holds: new Map(), warning: null };
  const assigned = [...fleet.nodes.values()].filter((node) => hasConfig(ownKubeletNode(node, fleet))).length;
  const { maxUnassign, former } = desired.policy;
  const allowed = Math.min(limitOf(maxUnassign, assigned), limitOf(former?.maxUnassign ?? '100%', assigned));
  if (lost.length > allowed) {
    const names = lost.slice(0, MOST_NAMES).map(({ name }) => name);
    const message =
      `${lost.length} of ${assigned} assigned nodes have lost the labels that put them into a pool ` +
      `(${names.join(', ')}${lost.length > names.length ? ' …' : ''}), and maxUnassign allows ${allowed}: they keep their configs. ` +
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
  node.unselected?.by === 'labels' && hasConfig(ownKubeletNode(node, fleet));

/** It was told a config; or it runs one, and its new or recreated KubeletNode says nothing yet. */
function hasConfig(node: KubeletNode | undefined): boolean {
  const runs = node?.status?.active?.name ?? LOCAL;
  return assignmentOf(node) !== null || (node !== undefined && node.spec === undefined && runs !== LOCAL);
}

function ownKubeletNode({ name, uid }: NodeView, { kubeletNodes }: Fleet): KubeletNode | undefined {
  const found = kubeletNodes.get(name);
  return found !== undefined && isOwnedBy(found, uid) ? found : undefined;
}

/** Keeps over restarts since when nodes are without a pool, where anything depends on it: a config, or the taint of a new node. */
export function rememberLabelLosses(fleet: Fleet): readonly Step[] {
  return [...fleet.nodes.values()].flatMap((node): readonly Step[] => {
    const present = ownKubeletNode(node, fleet);
    if (present === undefined) return [];
    const { unselected } = node;
    const matters = unselected?.by === 'labels' && (hasConfig(present) || node.gated === true);
    const known = present.metadata.annotations?.[UNSELECTED_SINCE_ANNOTATION];
    const wanted = matters ? toTimestamp(unselected.since) : undefined;
    if (known === wanted) return [];
    const annotations = { [UNSELECTED_SINCE_ANNOTATION]: wanted ?? null };
    return [{ step: 'remember', node: node.name, present, annotations }];
  });
}
