import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { ControlPlane } from './control-plane.ts';

export interface PlayedPod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly affinity: {
      readonly nodeAffinity: {
        readonly requiredDuringSchedulingIgnoredDuringExecution: {
          readonly nodeSelectorTerms: readonly [
            { readonly matchFields: readonly [{ readonly values: readonly [string] }] },
          ];
        };
      };
    };
    readonly containers: readonly [
      {
        readonly name: string;
        readonly image: string;
        readonly readinessProbe?: { readonly periodSeconds: number; readonly failureThreshold: number };
      },
    ];
  };
}

export interface PlayedNodesOptions {
  readonly cluster: ControlPlane;
  readonly namespace: string;
  readonly names: readonly string[];
  /** Milliseconds that a second of Kubernetes' takes here. */
  readonly secondMs: number;
  /** What becomes of a new pod, one step after the other; nothing more is heard of a kubelet that is `dead`. */
  readonly lifeOf: (pod: PlayedPod, node: string) => readonly Step[];
}

/** `seconds`: after the step before, in Kubernetes' seconds. `onceSaid` is called when the API server has heard of it. */
export interface Step {
  readonly seconds: number;
  readonly says: 'Ready' | 'NotReady' | 'dead';
  /** Since when, in Kubernetes' seconds before now. */
  readonly ago?: number;
  readonly onceSaid?: () => void;
}

export interface PlayedNodes {
  /** Brings the dead back, and removes all pods. Nothing more becomes of these. */
  readonly clear: () => Promise<void>;
  /** The longest time between two looks at the pods since they were cleared, in Kubernetes' seconds: what is played lags as much. */
  readonly lag: () => number;
  /** What went wrong with them; undefined while nothing has. */
  readonly failed: () => string | undefined;
  readonly stop: () => Promise<void>;
}

const LEASE_SECONDS = 10;
const TICK_MS = 50;

/** Scheduler and kubelets as the API server sees them: pods are bound, get their statuses and go; leases are renewed. */
export async function playNodes(options: PlayedNodesOptions): Promise<PlayedNodes> {
  const { cluster, namespace, names, secondMs, lifeOf } = options;
  const end = new AbortController();
  let cleared = new AbortController();
  const dead = new Set<string>();
  const lives = new Map<string, Promise<void>>();
  let failed: string | undefined;
  let lookedAt = performance.now();
  let longestMs = 0;
  const pods = `/api/v1/namespaces/${namespace}/pods`;

  async function must(method: string, path: string, body?: unknown, type?: string): Promise<unknown> {
    const answer = await cluster.request(method, path, body, type);
    if (answer.status === 404 || answer.status === 409) return undefined;
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.json();
  }
  const list = async (): Promise<readonly PlayedPod[]> =>
    ((await must('GET', pods)) as { readonly items: readonly PlayedPod[] }).items;
  const remove = (pod: PlayedPod): Promise<unknown> =>
    must('DELETE', `${pods}/${pod.metadata.name}?gracePeriodSeconds=0`);

  async function register(name: string): Promise<void> {
    const now = new Date().toISOString();
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }];
    const node = { metadata: { name, labels: { 'kubernetes.io/os': 'linux' } } };
    await must('POST', '/api/v1/nodes', node);
    await must('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } }, 'application/merge-patch+json');
  }
  async function renew(name: string): Promise<void> {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
    };
    const held = await must('PATCH', `${leases}/${name}`, { spec }, 'application/merge-patch+json');
    if (held === undefined) await must('POST', leases, { metadata: { name }, spec });
  }
  async function say(pod: PlayedPod, says: 'Ready' | 'NotReady', ago: number): Promise<void> {
    const status = says === 'Ready' ? 'True' : 'False';
    const lastTransitionTime = new Date(Date.now() - ago * secondMs).toISOString();
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status, lastTransitionTime }));
    const path = `${pods}/${pod.metadata.name}/status`;
    const patch = { metadata: { uid: pod.metadata.uid }, status: { phase: 'Running', conditions } };
    await must('PATCH', path, patch, 'application/strategic-merge-patch+json');
  }

  async function live(pod: PlayedPod, node: string): Promise<void> {
    const { name } = pod.metadata;
    const signal = AbortSignal.any([end.signal, cleared.signal]);
    await must('POST', `${pods}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: node } });
    for (const { seconds, says, ago = 0, onceSaid } of lifeOf(pod, node)) {
      await sleep(seconds * secondMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || dead.has(node)) return;
      if (says === 'dead') dead.add(node);
      else await say(pod, says, ago);
      onceSaid?.();
    }
  }

  async function look(): Promise<void> {
    for (const pod of await list()) {
      const { affinity } = pod.spec;
      const [term] = affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
      const [node] = term.matchFields[0].values;
      if (dead.has(node)) continue;
      if (pod.metadata.deletionTimestamp !== undefined) await remove(pod);
      else if (!lives.has(pod.metadata.uid)) {
        lives.set(
          pod.metadata.uid,
          live(pod, node).catch((error: unknown) => void (failed ??= reasonOf(error))),
        );
      }
    }
  }

  async function loop(what: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (!end.signal.aborted) {
      await what().catch((error: unknown) => void (failed ??= reasonOf(error)));
      await sleep(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  }
  async function timedLook(): Promise<void> {
    await look();
    const now = performance.now();
    longestMs = Math.max(longestMs, now - lookedAt);
    lookedAt = now;
  }

  await Promise.all(names.map(register));
  const renewAll = (): Promise<unknown> => Promise.all(names.filter((name) => !dead.has(name)).map(renew));
  const loops = [loop(timedLook, TICK_MS), loop(renewAll, LEASE_SECONDS * secondMs)];
  return {
    async clear() {
      cleared.abort();
      await Promise.all(lives.values());
      cleared = new AbortController();
      dead.clear();
      longestMs = 0;
      await Promise.all([...(await list()).map(remove), ...names.map(register)]);
    },
    lag: () => longestMs / secondMs,
    failed: () => failed,
    async stop() {
      end.abort();
      await Promise.all([...loops, ...lives.values()]);
    },
  };
}
