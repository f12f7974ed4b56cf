import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import { DEFAULT_TRIAL, type KubeletNode, type KubeletNodeStatus, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { CommitInForce, DesiredPool } from '#reconciler/policy/desired.ts';
import type { ConfigSourceView, Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import { type ClassRecord, writeProof } from '#reconciler/policy/proof/record.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import type { InvalidPool, LoadedPool, LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';

/** Builders of small fleets for the tests of the reconciler's decisions. */

export const NOW: Millis = Date.parse('2026-11-21T12:00:00Z');
export const COMMIT_A = 'a'.repeat(40);
export const COMMIT_B = 'b'.repeat(40);

/** Of the pace at which nodes hold their places to the end: tests of the usual one say so. */
export function poolSpec(spec: Partial<KubeletPoolSpec> = {}): KubeletPoolSpec {
  return {
    nodeSelector: { matchLabels: { pool: 'workers' } },
    priority: 0,
    layers: ['pools/workers/kubelet.yaml'],
    apply: 'overlay',
    rollout: { maxUnavailable: 1, probation: 'full', soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
    trial: DEFAULT_TRIAL,
    drift: 'repair',
    ...spec,
  };
}

export function validPool(
  name: string,
  maxPods: number,
  spec: Partial<KubeletPoolSpec> = {},
  fields: Readonly<Record<string, unknown>> = {},
): ValidPool {
  const value = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods, ...fields };
  const payload = `${JSON.stringify(value, null, 2)}\n`;
  return {
    status: 'valid',
    name,
    spec: poolSpec({ nodeSelector: { matchLabels: { pool: name } }, ...spec }),
    value,
    payload,
    sha256: payloadSha256(payload),
    configName: configMapName(name, payload),
    findings: [],
  };
}

/** The pool as decisions take it, where git says this and nobody said otherwise. */
export function desiredPool({ name, spec, configName, sha256, payload }: ValidPool): DesiredPool {
  return {
    name,
    origin: 'rendered',
    spec,
    config: { name: configName, sha256, payload },
    commit: COMMIT_B,
    findings: [],
  };
}

export function invalidPool(name: string): InvalidPool {
  const file = `pools/${name}/kubelet.yaml`;
  const finding = {
    code: 'unknown-field',
    severity: 'error',
    message: 'no such field',
    file,
    line: 3,
    column: 1,
  } as const;
  return { status: 'invalid', name, findings: [finding] };
}

export function commit(oid: string, ...pools: readonly LoadedPool[]): CommitInForce {
  const repo: LoadedRepo = {
    cluster: DEFAULT_CLUSTER,
    pools,
    findings: [],
  };
  return { oid, repo };
}

export function nodeView(name: string, pool: string, view: Partial<NodeView> = {}): NodeView {
  return {
    name,
    uid: `uid-${name}`,
    labels: { pool },
    ready: true,
    readySince: NOW - 86_400_000,
    cordoned: false,
    kubeletVersion: 'v1.34.2',
    createdAt: NOW - 86_400_000,
    ...view,
  };
}

/** A node that runs its local config and whose agent reported just now. */
export function idleNode(node: NodeView, status: Partial<KubeletNodeStatus> = {}): KubeletNode {
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid };
  return {
    metadata: { name: node.name, uid: `k-${node.name}`, generation: 1, resourceVersion: '1', ownerReferences: [owner] },
    spec: {},
    status: {
      observedGeneration: 1,
      phase: 'Idle',
      assigned: { name: LOCAL },
      active: { name: LOCAL },
      lastKnownGood: { name: LOCAL },
      heartbeat: toTimestamp(NOW),
      bootID: 'boot-1',
      ...status,
    },
  };
}

/** A node that was told to run this pool's payload; the rest of its status as given. */
export function assignedNode(node: NodeView, pool: ValidPool, status: Partial<KubeletNodeStatus> = {}): KubeletNode {
  const idle = idleNode(node, status);
  const configSource = {
    namespace: 'kubelet-gitops',
    name: pool.configName,
    uid: `cm-${pool.configName}`,
    resourceVersion: '1',
    key: 'kubelet',
    sha256: pool.sha256,
  };
  const { apply, trial, drift } = pool.spec;
  const extra = { ...writtenKeep(pool.spec), ...(drift === 'report' ? { drift } : {}) };
  return { ...idle, spec: { pool: pool.name, commit: COMMIT_A, configSource, apply, trial, ...extra } };
}

/** A node that runs this pool's payload and has proven it. */
export function settledNode(node: NodeView, pool: ValidPool, status: Partial<KubeletNodeStatus> = {}): KubeletNode {
  const reference = { name: pool.configName, sha256: pool.sha256, apply: pool.spec.apply, ...writtenKeep(pool.spec) };
  const promotedAt = toTimestamp(NOW - 3_600_000);
  return assignedNode(node, pool, {
    assigned: reference,
    active: reference,
    lastKnownGood: reference,
    promotedAt,
    ...status,
  });
}

/** The record of a class that has proven its present config. */
export function recordOf(name: string, sha256: string): ClassRecord {
  const target = { sha256, apply: 'overlay' } as const;
  const counts = { nodes: 1, proved: 1, missing: [], former: null, commit: undefined };
  return { name, state: 'proven', since: toTimestamp(NOW), current: target, proven: target, ...counts };
}

/** What the status of a pool without classes of machines says that settled on this. */
export const settledOn = ({ configName, sha256 }: Pick<ValidPool, 'configName' | 'sha256'>) => ({
  settled: { configName, sha256, apply: 'overlay' as const, at: toTimestamp(NOW) },
  proof: writeProof([recordOf('', sha256)]),
});

/** A node that took this pool's payload back. */
export function failedNode(node: NodeView, pool: ValidPool): KubeletNode {
  const { sha256, configName: name, spec } = pool;
  const why = { reason: 'CrashLoop', message: 'exit-code 1', at: toTimestamp(NOW) };
  const reference = { name, sha256, apply: spec.apply };
  return assignedNode(node, pool, { assigned: reference, rejected: [{ ...reference, ...why }], error: why });
}

export function configSource(pool: ValidPool, view: Partial<ConfigSourceView> = {}): ConfigSourceView {
  return {
    name: pool.configName,
    uid: `cm-${pool.configName}`,
    resourceVersion: '1',
    pool: pool.name,
    payload: pool.payload,
    sha256: pool.sha256,
    canonicalForm: 1,
    createdAt: NOW - 60_000,
    ...view,
  };
}

export interface FleetParts {
  readonly nodes?: readonly NodeView[];
  readonly kubeletNodes?: readonly KubeletNode[];
  readonly configSources?: readonly ConfigSourceView[];
  readonly pools?: readonly KubeletPool[];
}

export function fleetOf({ nodes = [], kubeletNodes = [], configSources = [], pools = [] }: FleetParts): Fleet {
  return {
    nodes: new Map(nodes.map((node) => [node.name, node])),
    kubeletNodes: new Map(kubeletNodes.map((node) => [node.metadata.name, node])),
    configSources: new Map(configSources.map((source) => [source.name, source])),
    pools: new Map(pools.map((pool) => [pool.metadata.name, pool])),
  };
}

/** The KubeletPool as the cluster has it when this pool is in force. */
export function poolInCluster(pool: ValidPool, status: KubeletPool['status'] = {}): KubeletPool {
  return {
    metadata: { name: pool.name, uid: `p-${pool.name}`, generation: 1, resourceVersion: '1' },
    spec: pool.spec,
    status: { commit: COMMIT_A, configName: pool.configName, sha256: pool.sha256, ...status },
  };
}
