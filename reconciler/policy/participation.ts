import { OPT_OUT_LABEL } from '#shared/contract/api/group.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from './fleet.ts';

/** What of a Node says whether it can ever take part. */
export type Selectable = Pick<NodeView, 'labels' | 'virtual'>;

/** A node that never takes part: it is in no pool, counts nowhere, and is left as it is. `because`: a clause for people. */
export interface Never {
  readonly choice: 'opted-out' | 'unsupported';
  readonly because: string;
}

/** Labels of nodes that are no machines with a kubelet of their own, by those who make them. */
const WITHOUT_KUBELET: readonly (readonly [label: string, value: string, what: string])[] = [
  ['eks.amazonaws.com/compute-type', 'fargate', 'a Fargate node'],
  ['type', 'virtual-kubelet', 'a virtual node'],
  ['type', 'kwok', 'a simulated node'],
  ['liqo.io/type', 'virtual-node', 'a virtual node'],
];

/** That of Virtual Kubelet, which Azure's and Alibaba's virtual nodes have as well. */
const VIRTUAL_TAINT = 'virtual-kubelet.io/provider';

/** Why a node never takes part; null for all others. */
export function neverReason({ labels, virtual }: Selectable): Never | null {
  const optOut = labels[OPT_OUT_LABEL];
  if (optOut !== undefined && optOut !== 'false') return { choice: 'opted-out', because: 'opted out by a label' };
  const os = labels['kubernetes.io/os'] ?? 'linux';
  const what =
    WITHOUT_KUBELET.find(([label, value]) => labels[label] === value)?.[2] ??
    (virtual === true ? 'a virtual node' : os === 'linux' ? undefined : `a node that runs ${os}`);
  return what === undefined ? null : { choice: 'unsupported', because: `it is ${what}: no agent can run there` };
}

/** Taints of nodes that are about to be removed, with who says so. A value where only that one means it. */
const LEAVING_TAINTS: readonly (readonly [key: string, what: string, value?: string])[] = [
  ['ToBeDeletedByClusterAutoscaler', 'cluster-autoscaler removes it'],
  ['karpenter.sh/disrupted', 'Karpenter replaces it'],
  // Until Karpenter 1.0.
  ['karpenter.sh/disruption', 'Karpenter replaces it', 'disrupting'],
  ['node.kubernetes.io/out-of-service', 'it is marked as out of service'],
  ['node.cluster.x-k8s.io/outdated-revision', 'Cluster API replaces its machine'],
];

/** The autoscaler may want to remove it, and may think better of it. */
const CANDIDATE_TAINT = 'DeletionCandidateOfClusterAutoscaler';

interface Taint {
  readonly key: string;
  readonly value?: string;
}

const KEYS: ReadonlySet<string> = new Set([VIRTUAL_TAINT, CANDIDATE_TAINT, ...LEAVING_TAINTS.map(([key]) => key)]);

/** Whether a taint says anything of who takes part. */
export const isOfParticipation = ({ key }: Taint): boolean => KEYS.has(key);

/** What a Node's taints and its deletion say of taking part; their effects do not matter. */
export function marksOf(
  deletionTimestamp: unknown,
  taints: readonly Taint[] = [],
): Pick<NodeView, 'virtual' | 'leaving' | 'deletionCandidate'> {
  const has = (wanted: string, only?: string): boolean =>
    taints.some(({ key, value }) => key === wanted && (only === undefined || value === only));
  const isDeleted = deletionTimestamp !== undefined && deletionTimestamp !== null;
  const leaving = isDeleted ? 'its Node is being deleted' : LEAVING_TAINTS.find(([key, , only]) => has(key, only))?.[1];
  return {
    ...(has(VIRTUAL_TAINT) ? { virtual: true } : {}),
    ...(leaving === undefined ? {} : { leaving }),
    ...(has(CANDIDATE_TAINT) ? { deletionCandidate: true } : {}),
  };
}

/** What says whether a node can take part now. */
export interface Participant {
  readonly node: Pick<NodeView, 'ready' | 'cordoned' | 'drain' | 'drainFailed' | 'leaving'>;
  /** No agent has reported from it lately. */
  readonly isSilent: boolean;
  /** It is in the middle of a change of ours, which waits for no readiness. */
  readonly inChange?: boolean;
  /** Why it cannot get a config; absent where it can. */
  readonly unrendered?: string | undefined;
  /** Because its kubelet would refuse it; otherwise there is none for its machine. */
  readonly isUnfit?: boolean;
}

type Rollout = Pick<RolloutSpec, 'notReadyNodes'> | undefined;

/** Why a node cannot take part now, each with the clause that says so to people; in the order in which they are said. */
const ABSENCES = {
  'no-agent': ({ isSilent }) => (isSilent ? 'no agent reports from this node: is the DaemonSet running there?' : null),
  // What is tried on a node that goes proves nothing.
  leaving: ({ node }) => (node.leaving === undefined ? null : `the node is leaving: ${node.leaving}`),
  'not-computable': ({ unrendered, isUnfit }) =>
    unrendered === undefined || isUnfit === true ? null : `there is no config for its machine: ${unrendered}`,
  // Its kubelet would not start with the config.
  'not-valid': ({ unrendered, isUnfit }) => (isUnfit === true ? (unrendered ?? null) : null),
  // It has troubles of its own, which another config would only hide, unless its pool says that the config is to end them.
  'not-ready': ({ node, inChange }, rollout) =>
    node.ready || inChange === true || rollout?.notReadyNodes === 'change'
      ? null
      : 'the node is not Ready; if this config fixes that, set rollout.notReadyNodes: change in the pool',
  // Somebody works on it. What we cordoned ourselves is about to be changed.
  cordoned: ({ node, inChange }) =>
    !node.cordoned || node.drain !== undefined || inChange === true ? null : 'the node is cordoned',
  // Its next turn comes behind those of all others.
  'drained-in-vain': ({ node }) =>
    node.drainFailed === undefined ? null : 'its pods did not leave in time when it was drained last',
} as const satisfies Readonly<Record<string, (who: Participant, rollout: Rollout) => string | null>>;

/** All but what ends with the node's next turn. */
export const BEFORE_TURN: readonly AbsenceReason[] = [
  'no-agent',
  'leaving',
  'not-computable',
  'not-valid',
  'not-ready',
  'cordoned',
];

export type AbsenceReason = keyof typeof ABSENCES;
export const ABSENCE_REASONS = Object.keys(ABSENCES) as readonly AbsenceReason[];

/** Why a node cannot take part now. */
export interface Absence {
  readonly hold: AbsenceReason;
  /** A clause for people. */
  readonly because: string;
}

/**
 * The first reason why a node cannot take part in a rollout now; null where it can.
 *
 * @param reasons those that are asked for
 */
export function absenceOf(
  who: Participant,
  rollout: Rollout,
  reasons: readonly AbsenceReason[] = ABSENCE_REASONS,
): Absence | null {
  for (const reason of reasons) {
    const because = ABSENCES[reason](who, rollout);
    if (because !== null) return { hold: reason, because };
  }
  return null;
}

/** The same question about a member of a pool. */
export const participantOf = ({
  node,
  lifecycle: { shown, inChange },
  unrendered,
  payloadClass,
}: Pick<Participant, 'node' | 'unrendered'> & {
  readonly lifecycle: { readonly shown: string; readonly inChange: boolean };
  readonly payloadClass?: { readonly config: unknown } | undefined;
}): Participant => ({
  node,
  isSilent: shown === 'no-agent',
  inChange,
  unrendered,
  isUnfit: unrendered !== undefined && payloadClass?.config !== null,
});
