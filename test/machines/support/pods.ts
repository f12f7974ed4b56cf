import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { NAMESPACE } from '../../cluster/support/programs.ts';
import { IMAGES } from './machine-paths.ts';

/** What the tests ask of a pod. */
export interface PodState {
  readonly uid: string;
  readonly phase: string;
  readonly reason?: string;
  readonly ready: boolean;
  readonly restarts: number;
}

export interface Pods {
  readonly state: (namespace: string, name: string) => Promise<PodState | undefined>;
  /** A pod of somebody who asked for nothing. */
  readonly run: (name: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

export const AGENT_POD = 'kubelet-gitops-agent-of-test';

interface PodSpec {
  readonly containers: readonly [{ readonly volumeMounts: readonly object[] }];
  readonly volumes: readonly object[];
}

/**
 * The pod of the DaemonSet, and pods of others, on that node. The controllers are not here: what they would add to a pod is
 * added, and nobody makes another pod where one has failed.
 */
export async function startAgentPod({ request, ca }: ControlPlane, nodeName: string): Promise<Pods> {
  const create = async (path: string, body: unknown): Promise<void> => {
    const answer = await request('POST', path, body);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  };
  const at = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
  const run = (namespace: string, name: string, spec: object): Promise<void> =>
    create(at(namespace), { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { ...spec, nodeName } });

  await create(`/api/v1/namespaces/${NAMESPACE}/configmaps`, {
    metadata: { name: 'kube-root-ca.crt' },
    data: { 'ca.crt': ca },
  });
  await run(NAMESPACE, AGENT_POD, agentSpec());
  return {
    async state(namespace, name) {
      const answer = await request('GET', `${at(namespace)}/${name}`);
      if (answer.status === 404) return undefined;
      const { metadata, status } = answer.json() as Pod;
      const [container] = status.containerStatuses ?? [];
      return {
        uid: metadata.uid,
        phase: status.phase ?? '',
        ...(status.reason === undefined ? {} : { reason: status.reason }),
        ready: container?.ready ?? false,
        restarts: container?.restartCount ?? 0,
      };
    },
    run: (name) =>
      run('default', name, {
        containers: [{ name: 'idle', image: IMAGES.idle, imagePullPolicy: 'Never' }],
        tolerations: [{ operator: 'Exists' }],
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
      }),
    remove: async (name) => void (await request('DELETE', `${at('default')}/${name}?gracePeriodSeconds=0`)),
  };
}

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[];
  };
}

/** With the volume that admission adds for a service account. */
function agentSpec(): object {
  const daemonSet = parse(readFileSync('deploy/agent/daemonset.yaml', 'utf8')) as {
    readonly spec: { readonly template: { readonly spec: PodSpec } };
  };
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
