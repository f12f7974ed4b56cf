import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { NAMESPACE } from '../../cluster/support/programs.ts';
import { IMAGES } from './machine-paths.ts';

/** What the tests ask of a pod. */
export interface PodState {
  readonly uid: string;
  readonly phase: string;
  /** Who had it end before its time: `TerminationByKubelet`. */
  readonly disruptedBy?: string;
  readonly ready: boolean;
  readonly restarts: number;
}

export interface PodOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** What it asks for. Nothing by default. */
  readonly requests?: Readonly<Record<string, string>>;
  /** What it may have. As much as it asks for, by default. */
  readonly limits?: Readonly<Record<string, string>>;
}

export interface Pods {
  readonly state: (namespace: string, name: string) => Promise<PodState | undefined>;
  readonly agent: () => Promise<PodState | undefined>;
  /** A pod of somebody. */
  readonly run: (name: string, options?: PodOptions) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** Has another pod of the agent in place of the one that is there, as the DaemonSet's controller does once that has failed. */
  readonly renewAgent: () => Promise<void>;
}

interface DaemonSet {
  readonly metadata: Named;
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly containers: readonly [{ readonly volumeMounts: readonly object[] }];
  readonly volumes: readonly object[];
}

/**
 * The pod of the DaemonSet, and pods of others, on that node. The controllers are not here: what they would add to a pod is
 * added, and nobody makes another pod where one has failed.
 */
export async function startAgentPod({ request, ca }: ControlPlane, nodeName: string): Promise<Pods> {
  const create = async (path: string, body: unknown): Promise<Made> => {
    const answer = await request('POST', path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.json() as Made;
  };
  const at = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
  const run = (namespace: string, metadata: object, spec: object): Promise<Made> =>
    create(at(namespace), { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...spec, nodeName } });
  const remove = async (namespace: string, name: string): Promise<void> =>
    void (await request('DELETE', `${at(namespace)}/${name}?gracePeriodSeconds=0`));

  /** Another machine's pod may have asked for it before. */
  const ensure = async (path: string, metadata: Named, body: object): Promise<Made> => {
    const present = await request('GET', `${path}/${metadata.name}`);
    return present.status === 200 ? (present.json() as Made) : create(path, { ...body, metadata });
  };
  await ensure(`/api/v1/namespaces/${NAMESPACE}/configmaps`, { name: 'kube-root-ca.crt' }, { data: { 'ca.crt': ca } });
  const daemonSet = parse(readFileSync('deploy/agent/daemonset.yaml', 'utf8')) as DaemonSet;
  const daemonSets = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
  const { name, uid } = (await ensure(daemonSets, daemonSet.metadata, daemonSet)).metadata;
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true }];
  const agentPod = `kubelet-gitops-agent-of-${nodeName}`;
  const runAgent = (): Promise<Made> => run(NAMESPACE, { name: agentPod, ownerReferences }, agentSpec(daemonSet));
  const state: Pods['state'] = async (namespace, pod) => {
    const answer = await request('GET', `${at(namespace)}/${pod}`);
    if (answer.status === 404) return undefined;
    const { metadata, status } = answer.json() as Pod;
    const [container] = status.containerStatuses ?? [];
    const disruptedBy = status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason;
    return {
      uid: metadata.uid,
      phase: status.phase ?? '',
      ...(disruptedBy === undefined ? {} : { disruptedBy }),
      ready: container?.ready ?? false,
      restarts: container?.restartCount ?? 0,
    };
  };
  await runAgent();
  return {
    state,
    agent: () => state(NAMESPACE, agentPod),
    async run(pod, { labels = {}, requests = {}, limits = requests } = {}) {
      await run(
        'default',
        { name: pod, labels },
        {
          containers: [
            {
              name: 'idle',
              image: IMAGES.idle,
              imagePullPolicy: 'Never',
              resources: { requests, limits },
            },
          ],
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 1,
          automountServiceAccountToken: false,
        },
      );
    },
    remove: (pod) => remove('default', pod),
    async renewAgent() {
      await remove(NAMESPACE, agentPod);
      await runAgent();
    },
  };
}

interface Named {
  readonly name: string;
}
interface Made {
  readonly metadata: Named & { readonly uid: string };
}
interface Pod extends Made {
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[];
  };
}

/** With the volume that admission adds for a service account. */
function agentSpec(daemonSet: DaemonSet): object {
  const { containers, volumes, ...spec } = daemonSet.spec.template.spec;
  const account = { name: 'account', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true };
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  const [container] = containers;
  return {
    ...spec,
    containers: [
      {
        ...container,
        image: IMAGES.agent,
        imagePullPolicy: 'Never',
        volumeMounts: [...container.volumeMounts, account],
      },
    ],
    volumes: [...volumes, { name: account.name, projected: { sources } }],
  };
}
