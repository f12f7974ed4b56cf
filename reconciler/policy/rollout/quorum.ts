import type { Millis } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import { type Hold, hold } from './holds/hold.ts';
import { kubeletNodeOf } from '../kubelet-node-of.ts';
import type { Member, SkippedNode } from './membership.ts';
import { isAssignmentUnheard } from './node-progress.ts';

/** Lets nodes of the control plane begin one at a time, and never while another may be away. All other nodes are let through. */
export interface Quorum {
  /** Why a node may not begin now, its drain included; null where it may. */
  hold(node: NodeView): Hold | null;
  /** The same for a node whose pods have left: of several that were drained, one begins. */
  holdDrained(node: NodeView): Hold | null;
  /** A node begins. */
  leave(node: NodeView): void;
}

/** @param fleet the whole cluster: a quorum does not care for pools */
export function quorumOf(
  members: readonly Member[],
  untouchable: readonly SkippedNode[],
  fleet: Fleet,
  now: Millis,
): Quorum {
  const servers = [...fleet.nodes.values()].filter(isServer);
  const isAway = ({ lifecycle }: Member): boolean =>
    lifecycle.inChange || lifecycle.failed || lifecycle.shown === 'broken';
  // An agent that is silent may hear of its assignment at any moment.
  const mayLeave = (node: NodeView): boolean => !node.ready || isAssignmentUnheard(kubeletNodeOf(node, fleet), now);
  const changing = [...members.filter(isAway), ...untouchable.filter((each) => each.changing)].map(({ node }) => node);
  const gone = new Set([...servers.filter(mayLeave), ...changing.filter(isServer)].map(({ name }) => name));
  // A drain takes many passes, and ends in a change.
  const away = new Set([...gone, ...servers.filter(({ drain }) => drain !== undefined).map(({ name }) => name)]);

  return {
    hold: (node) => holdOf(node, away),
    holdDrained: (node) => holdOf(node, gone),
    leave(node) {
      if (!isServer(node)) return;
      gone.add(node.name);
      away.add(node.name);
    },
  };
}

function holdOf(node: NodeView, missing: ReadonlySet<string>): Hold | null {
  if (!isServer(node) || missing.size <= (missing.has(node.name) ? 1 : 0)) return null;
  const others = firstFew([...missing].filter((name) => name !== node.name));
  const because = `nodes of the control plane go one at a time; not Ready, drained, changing or about to: ${others}`;
  return hold('control-plane', because);
}

/** Of kubeadm since 1.20, and before; of k3s and RKE2 for servers that hold etcd alone, whose quorum is as dear; of MicroK8s. */
const CONTROL_PLANE_LABELS = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
  'node-role.kubernetes.io/etcd',
  'node.kubernetes.io/microk8s-controlplane',
];

export const isControlPlane = (labels: Readonly<Record<string, string>>): boolean =>
  CONTROL_PLANE_LABELS.some((label) => labels[label] !== undefined);

const isServer = ({ labels }: NodeView): boolean => isControlPlane(labels);
