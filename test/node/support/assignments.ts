import type { ConfigSource, KubeletNode, KubeletNodeStatus, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { DEFAULT_NAMESPACE, PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import type { KubeletConfig } from '../../cluster/support/kubelet-probes.ts';

/** Stands for the reconciler towards one node: writes what it would write, at once. */
export interface Assignments {
  /** Makes the config source where it is missing, and assigns it. @returns its name */
  readonly assign: (fields: KubeletConfig, spec?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Labels the assigned config source, which makes another version of it, and assigns that. */
  readonly relabel: (fields: KubeletConfig) => Promise<void>;
  /** Deletes the assigned config source, makes it again with the same content, and assigns that. */
  readonly recreate: (fields: KubeletConfig) => Promise<void>;
  /** The node is to run its local config. */
  readonly unassign: () => Promise<void>;
  /** Gives the node the turn that its status asks for. */
  readonly grant: () => Promise<void>;
  readonly get: () => Promise<KubeletNode>;
  readonly status: () => Promise<KubeletNodeStatus>;
}

/**
 * Short, because the tests wait for it, but for the time to start: a kubelet takes six seconds from its start to healthy, and
 * many times that where the machine is busy.
 */
export const TRIAL: TrialSpec = { duration: '4s', startTimeout: '3m', maxRestarts: 1 };
/** Under way for as long as a test needs that; to assign the same config for another trial ends it. */
export const LONG_TRIAL: TrialSpec = { ...TRIAL, duration: '30m' };

const POOL = 'pool';
const COMMIT = 'c0ffee'.padEnd(40, '0');
const PATH = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes';
const SOURCES = `/api/v1/namespaces/${DEFAULT_NAMESPACE}/configmaps`;

/** Makes the KubeletNode, without an assignment. */
export async function createAssignments({ request }: ControlPlane, node: string): Promise<Assignments> {
  const call = async <T>(method: string, path: string, body?: unknown, type?: string): Promise<T> => {
    const answer = await request(method, path, body, type);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json() as T;
  };
  const ensureSource = async (fields: KubeletConfig): Promise<ConfigSource> => {
    const payload = canonicalize(fields);
    const name = configMapName(POOL, payload);
    // Nodes that are assigned the same one at once make it only once.
    const made = { metadata: { name }, immutable: true, data: { [PAYLOAD_KEY]: payload } };
    const { status } = await request('POST', SOURCES, made);
    if (status !== 409 && status >= 300) throw new Error(`POST ${SOURCES}: ${status}`);
    const { metadata } = await call<Made>('GET', `${SOURCES}/${name}`);
    const { uid, resourceVersion } = metadata;
    const sha256 = payloadSha256(payload);
    return { namespace: DEFAULT_NAMESPACE, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 };
  };
  const setSpec = (spec: unknown): Promise<unknown> =>
    call('PATCH', `${PATH}/${node}`, [{ op: 'add', path: '/spec', value: spec }], 'application/json-patch+json');
  await call('POST', PATH, {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletNode',
    metadata: { name: node },
  });
  const get = (): Promise<KubeletNode> => call<KubeletNode>('GET', `${PATH}/${node}`);
  const assign: Assignments['assign'] = async (fields, spec = {}) => {
    const configSource = await ensureSource(fields);
    await setSpec({ pool: POOL, commit: COMMIT, configSource, apply: 'overlay', trial: TRIAL, ...spec });
    return configSource.name;
  };
  return {
    assign,
    async relabel(fields) {
      const { name } = await ensureSource(fields);
      const metadata = { labels: { touched: 'yes' } };
      await call('PATCH', `${SOURCES}/${name}`, { metadata }, 'application/merge-patch+json');
      await assign(fields);
    },
    async recreate(fields) {
      const { name } = await ensureSource(fields);
      await call('DELETE', `${SOURCES}/${name}`);
      await assign(fields);
    },
    unassign: async () => void (await setSpec({})),
    async grant() {
      const { spec, status } = await get();
      await setSpec({ ...spec, turn: { seen: status?.awaitsTurn?.seen } });
    },
    get,
    status: async () => (await get()).status ?? {},
  };
}

interface Made {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}
