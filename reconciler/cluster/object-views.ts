import { isDeepStrictEqual } from 'node:util';
import {
  APPROVE_ANNOTATION,
  BY_ANNOTATION,
  CANONICAL_FORM_ANNOTATION,
  CLASS_LABELS_ANNOTATION,
  CORDONED_ANNOTATION,
  DRAIN_FAILED_ANNOTATION,
  FIRST_SEEN_ANNOTATION,
  MACHINE_ANNOTATION,
  MEASURE_ANNOTATION,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  NOT_CONFIGURED_TAINT,
  PAYLOAD_KEY,
  POOL_LABEL,
  RELEASE_ANNOTATION,
  SUSPEND_ANNOTATION,
  MOVED_SINCE_ANNOTATION,
  UNSELECTED_SINCE_ANNOTATION,
} from '#shared/contract/api/group.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { Condition, KubeObject } from '#shared/contract/api/object.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { NEEDED_BY_PODS } from '#shared/contract/kubelet-config/feature-gates/gate-cost.ts';
import { fromTimestamp } from '#shared/runtime/clock.ts';
import { parseFailed, parseMark } from '../policy/disruption/drain-mark.ts';
import type { ConfigSourceView, NodeView } from '../policy/fleet.ts';
import { isOfParticipation, marksOf } from '../policy/participation.ts';

/** Config sources carry both labels; the record of the commit in force carries only the first. */
export const CONFIG_SOURCE_SELECTOR = `${MANAGED_BY_LABEL}=${MANAGED_BY},${POOL_LABEL}`;

/** As Nodes have them. */
interface HeartbeatCondition extends Condition {
  readonly lastHeartbeatTime?: string;
}

type Amounts = Readonly<Record<string, string>>;

interface NodeObject extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly HeartbeatCondition[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
    readonly capacity?: Amounts;
    readonly allocatable?: Amounts;
    readonly declaredFeatures?: readonly string[];
  };
}

interface ConfigMapObject extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** What is kept of a Node: a small part, because there are many and they change often. */
export function viewNode(object: KubeObject): NodeView {
  const { metadata, spec, status } = object as NodeObject;
  const readiness = status?.conditions?.find(({ type }) => type === 'Ready');
  const ours = status?.conditions?.find(({ type }) => type === CONFIG_HEALTH);
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    ready: readiness?.status === 'True',
    readySince: fromTimestamp(readiness?.lastTransitionTime) ?? 0,
    ...readyFor(readiness),
    cordoned: spec?.unschedulable === true,
    ...drainsOf(metadata.annotations),
    ...(spec?.taints?.some(({ key }) => key === NOT_CONFIGURED_TAINT) === true ? { gated: true } : {}),
    ...marksOf(metadata.deletionTimestamp, spec?.taints),
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
    createdAt: fromTimestamp(metadata.creationTimestamp) ?? 0,
    ...sizeOf(status),
    ...declaresIn(status),
    ...(ours === undefined ? {} : { configHealth: viewCondition(ours) }),
  };
}

/** A Node without what `viewNode` does not look at, which is nine tenths of it: images, addresses, managed fields. */
export function trimNode(object: KubeObject): KubeObject {
  const { metadata, spec, status } = object as NodeObject;
  const { managedFields: _, ...kept } = metadata as KubeObject['metadata'] & { readonly managedFields?: unknown };
  const conditions = status?.conditions?.filter(({ type }) => type === 'Ready' || type === CONFIG_HEALTH);
  const kubeletVersion = status?.nodeInfo?.kubeletVersion;
  const taints = spec?.taints?.filter((taint) => taint.key === NOT_CONFIGURED_TAINT || isOfParticipation(taint));
  return {
    metadata: kept,
    spec: { unschedulable: spec?.unschedulable, ...(taints === undefined ? {} : { taints }) },
    status: { conditions, nodeInfo: { kubeletVersion }, ...sizesOf(status), ...featuresIn(status) },
  } as KubeObject;
}

function sizeOf(status: NodeObject['status']): Pick<NodeView, 'size'> {
  const { capacity, allocatable } = sizesOf(status);
  if (capacity === undefined || allocatable === undefined) return {};
  return { size: { kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '', capacity, allocatable } };
}

const isNeeded = (feature: string): boolean => (NEEDED_BY_PODS as readonly string[]).includes(feature);

/** Of all features only those that pods can need. */
function featuresIn(status: NodeObject['status']): Pick<NonNullable<NodeObject['status']>, 'declaredFeatures'> {
  const { declaredFeatures } = status ?? {};
  return Array.isArray(declaredFeatures) ? { declaredFeatures: declaredFeatures.filter(isNeeded) } : {};
}

function declaresIn(status: NodeObject['status']): Pick<NodeView, 'declares'> {
  const { declaredFeatures: declares } = featuresIn(status);
  return declares === undefined ? {} : { declares };
}

/** Devices are nothing that a kubelet's config keeps back; most nodes have no huge pages. */
const isSized = ([resource, amount]: readonly [string, string]): boolean =>
  /^(?:cpu|memory|ephemeral-storage|pods)$/.test(resource) || (resource.startsWith('hugepages-') && amount !== '0');

function sizesOf(status: NodeObject['status']): { readonly capacity?: Amounts; readonly allocatable?: Amounts } {
  const kept = (amounts: Amounts | undefined): Amounts | undefined =>
    amounts && Object.fromEntries(Object.entries(amounts).filter(isSized));
  const [capacity, allocatable] = [kept(status?.capacity), kept(status?.allocatable)];
  return { ...(capacity && { capacity }), ...(allocatable && { allocatable }) };
}

/** The kubelet that reports its node as Ready wrote both times. They have whole seconds. */
function readyFor(readiness: HeartbeatCondition | undefined): Pick<NodeView, 'readyForMs'> {
  const from = fromTimestamp(readiness?.lastTransitionTime);
  const to = fromTimestamp(readiness?.lastHeartbeatTime);
  if (readiness?.status !== 'True' || from === undefined || to === undefined) return {};
  return { readyForMs: Math.max(0, to - from - 999) };
}

function drainsOf(annotations: Readonly<Record<string, string>> | undefined): Pick<NodeView, 'drain' | 'drainFailed'> {
  const drain = parseMark(annotations?.[CORDONED_ANNOTATION] ?? '');
  const drainFailed = parseFailed(annotations?.[DRAIN_FAILED_ANNOTATION] ?? '');
  return { ...(drain && { drain }), ...(drainFailed && { drainFailed }) };
}

const viewCondition = ({ status, reason, message, lastTransitionTime }: Condition): NodeView['configHealth'] & {} => ({
  status,
  reason,
  message,
  lastTransitionTime,
});

/** What is kept of one of our ConfigMaps, its content hashed once. */
export function viewConfigSource(object: KubeObject): ConfigSourceView {
  const { metadata, data, immutable } = object as ConfigMapObject;
  const payload = data?.[PAYLOAD_KEY];
  const passing = metadata.deletionTimestamp !== undefined ? 'leaving' : immutable === true ? undefined : 'editable';
  return {
    ...(passing === undefined ? {} : { defect: passing }),
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    pool: metadata.labels?.[POOL_LABEL] ?? '',
    payload,
    sha256: payload === undefined ? '' : payloadSha256(payload),
    canonicalForm: Number(metadata.annotations?.[CANONICAL_FORM_ANNOTATION] ?? 1),
    createdAt: fromTimestamp(metadata.creationTimestamp) ?? 0,
  };
}

/** What people say to us through annotations, and what reconcilers remember in them. */
const READ: readonly string[] = [
  SUSPEND_ANNOTATION,
  RELEASE_ANNOTATION,
  APPROVE_ANNOTATION,
  BY_ANNOTATION,
  FIRST_SEEN_ANNOTATION,
  MOVED_SINCE_ANNOTATION,
  UNSELECTED_SINCE_ANNOTATION,
  MACHINE_ANNOTATION,
  CLASS_LABELS_ANNOTATION,
  MEASURE_ANNOTATION,
];

/** Our own kinds without the bookkeeping of the API server, which can be longer than the object. */
export const viewKubeletNode = (object: KubeObject): KubeletNode => withoutBookkeeping(object) as KubeletNode;
export function viewKubeletPool(object: KubeObject): KubeletPool {
  const pool = withoutBookkeeping(object) as KubeletPool;
  if (typeof pool.status !== 'object') return pool;
  // The definition takes null for some fields, where it says as much as nothing.
  const said = Object.entries(pool.status ?? {}).filter(([, value]) => value !== null);
  return { ...pool, status: Object.fromEntries(said) };
}

/**
 * Whether an agent only said that it is alive, or how far its trial is beyond its first half, in which probations end: what is
 * decided of a node does not change by that, and thousands of agents say so all the time. Silence is noticed by the passes that come
 * anyway; its end is news.
 */
export function isOnlyHeartbeat(before: KubeletNode, after: KubeletNode): boolean {
  const [last, next] = [fromTimestamp(before.status?.heartbeat), fromTimestamp(after.status?.heartbeat)];
  if (last === undefined || next === undefined || next - last > AGENT_SILENT_MS) return false;
  return !isEarlyProgress(before, after) && isDeepStrictEqual(withoutSignsOfLife(before), withoutSignsOfLife(after));
}

function isEarlyProgress({ status: before }: KubeletNode, { status: { trial } = {} }: KubeletNode): boolean {
  if (!trial || trial.healthySeconds === before?.trial?.healthySeconds) return false;
  return 2 * trial.healthySeconds <= trial.durationSeconds;
}

function withoutSignsOfLife({ metadata, status, ...rest }: KubeletNode): unknown {
  const { resourceVersion: _, ...lasting } = metadata;
  const { heartbeat: __, measures: _measures, trial, ...said } = status ?? {};
  const { healthySeconds: ___, ...trialling } = trial ?? {};
  return { ...rest, metadata: lasting, status: { ...said, trial: trialling } };
}

function withoutBookkeeping({ metadata, ...rest }: KubeObject): KubeObject {
  const { name, uid, generation, resourceVersion, ownerReferences } = metadata;
  const read = Object.entries(metadata.annotations ?? {}).filter(([key]) => READ.includes(key));
  return {
    ...rest,
    metadata: {
      name,
      ...(uid === undefined ? {} : { uid }),
      ...(generation === undefined ? {} : { generation }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(read.length === 0 ? {} : { annotations: Object.fromEntries(read) }),
    },
  };
}
