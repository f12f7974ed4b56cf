import type { Lease } from '#reconciler/cluster/leader/lease.ts';
import { marksOf } from '#reconciler/policy/participation.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { AUDIT_CONFIG_MAP, readAuditSummary } from '#shared/contract/audit-summary.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, LEASES, NODES } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { type Facts, type NodeFact, type Part, valueOr, type CrdFact, type Stamp } from '../facts.ts';
import { readSource } from '../../status/read-source.ts';
import { readMissingRights } from './missing-rights.ts';
import { RECONCILER, SERVICES, WEBHOOK_SERVICE, CRDS } from './installation-resources.ts';
import { readAgents, readPods, readReconciler } from './workloads.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { CRD_FIELDS } from '../installation.generated.ts';
import { type FieldSchema, fieldsOfKind } from '../schema-fields.ts';

/** Reads everything that `diagnose` looks at. Changes nothing, never rejects: what cannot be read is a fact, too. */
export async function readFacts(kube: Kube, transport: Transport, namespace: string, now: Millis): Promise<Facts> {
  const items = async <T extends KubeObject>(listing: Promise<{ readonly items: readonly T[] }>) =>
    (await listing).items;
  const facts = await allOf({
    crds: partOf(readCrds(kube)),
    reconciler: partOf(readReconciler(kube, namespace)),
    agents: partOf(readAgents(kube, namespace)),
    pods: partOf(readPods(kube, namespace)),
    lease: partOf(kube.get<Lease>({ resource: LEASES, namespace }, RECONCILER)),
    source: mapPart(partOf(readSource(kube)), (state) => (state === NO_STATE ? null : state)),
    audit: mapPart(partOf(kube.get({ resource: CONFIG_MAPS, namespace }, AUDIT_CONFIG_MAP)), readAuditSummary),
    webhookService: partOf(
      kube.get({ resource: SERVICES, namespace }, WEBHOOK_SERVICE).then((service) => service !== null),
    ),
    missingRights: partOf(readMissingRights(transport, namespace)),
    nodes: mapPart(partOf(items(kube.list({ resource: NODES }))), (all) => all.map(viewNode)),
    kubeletNodes: partOf(items(kube.list<KubeletNode>({ resource: KUBELET_NODES }))),
    pools: partOf(items(kube.list<KubeletPool>({ resource: KUBELET_POOLS }))),
  });
  return { ...facts, now, namespace, stamps: stampsIn(facts.lease, facts.kubeletNodes) };
}

/** All at once. */
async function allOf<T extends Readonly<Record<string, Promise<unknown>>>>(
  asked: T,
): Promise<{ readonly [K in keyof T]: Awaited<T[K]> }> {
  const answers = await Promise.all(Object.entries(asked).map(async ([name, answer]) => [name, await answer] as const));
  return Object.fromEntries(answers) as { readonly [K in keyof T]: Awaited<T[K]> };
}

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: Parameters<typeof marksOf>[1] };
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

function viewNode({ metadata, spec, status }: NodeObject): NodeFact {
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    ...marksOf(metadata.deletionTimestamp, spec?.taints),
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
    createdAt: fromTimestamp(metadata.creationTimestamp),
  };
}

function stampsIn(lease: Part<Lease | null>, kubeletNodes: Part<readonly KubeletNode[]>): Facts['stamps'] {
  const leader = valueOr(lease, null);
  return [
    ...(leader === null ? [] : stampOf('the leading reconciler', leader, 'f:spec', leader.spec?.renewTime)),
    ...valueOr(kubeletNodes, []).flatMap((node) =>
      stampOf(`node ${node.metadata.name}`, node, 'f:status', node.status?.heartbeat),
    ),
  ];
}

/** What a call gives, or why it gave nothing: one part that cannot be read hides no other. Never rejects. */
async function partOf<T>(reading: Promise<T>): Promise<Part<T>> {
  try {
    return { read: true, value: await reading };
  } catch (error) {
    return { read: false, code: codeOf(error) ?? '', why: reasonOf(error) };
  }
}

async function mapPart<T, U>(part: Promise<Part<T>>, as: (value: T) => U): Promise<Part<U>> {
  const done = await part;
  return done.read ? { read: true, value: as(done.value) } : done;
}

interface CrdObject extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: FieldSchema };
    }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Those of our CRDs that the cluster has. @throws KubeError */
async function readCrds(kube: Kube): Promise<readonly CrdFact[]> {
  const found = await Promise.all(Object.keys(CRD_FIELDS).map((name) => kube.get<CrdObject>({ resource: CRDS }, name)));
  return found.filter((crd) => crd !== null).map(viewCrd);
}

function viewCrd({ metadata: { name }, spec, status }: CrdObject): CrdFact {
  const served = spec?.versions?.filter((version) => version.served === true) ?? [];
  const established = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
  const fields = fieldsOfKind(served.map(({ schema }) => schema?.openAPIV3Schema ?? {}));
  return { name, established: established === true, fields };
}

interface Managed {
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * What a writer says that the time is, beside the time at which the API server says that it wrote it. Only of the last
 * writer of that part: anybody else may have written at another time.
 *
 * @param part `f:status`, `f:spec`
 */
function stampOf(of: string, object: KubeObject, part: string, said: string | null | undefined): readonly Stamp[] {
  const at = fromTimestamp(said);
  if (at === undefined) return [];
  const managed = (object.metadata as { readonly managedFields?: readonly Managed[] }).managedFields ?? [];
  const times = managed.flatMap(({ time, fieldsV1 }) =>
    fieldsV1?.[part] === undefined ? [] : (fromTimestamp(time) ?? []),
  );
  return [{ of, said: at, stamped: times.length === 1 ? times[0] : undefined }];
}
