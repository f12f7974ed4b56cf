import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { DEFAULT_NAMESPACE, PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { CONFIG_MAPS, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { grantedTo } from '../../support/granted-rights.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { TRIAL } from './assignments.ts';

/** An API server with one Node, and an agent's token with the rights of the manifests. */
export interface SandboxCluster {
  readonly url: string;
  readonly token: string;
  /** @returns the config source's name */
  readonly assign: (fields: Readonly<Record<string, unknown>>, spec?: Readonly<Record<string, unknown>>) => string;
  readonly unassign: () => void;
  readonly status: () => KubeletNodeStatus;
  /** As before any agent reported. */
  readonly forgetStatus: () => void;
  /** Goes away and comes back, as in an outage. */
  readonly outage: { readonly begin: () => Promise<void>; readonly end: () => Promise<void> };
  readonly stop: () => Promise<void>;
}

const TOKEN = 'the-agents-own';

export async function startSandboxCluster(node: string): Promise<SandboxCluster> {
  const manifests = globSync('deploy/rbac/*.yaml').flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as unknown),
  );
  const account = { namespace: DEFAULT_NAMESPACE, name: 'kubelet-gitops-agent' };
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  // None of those that the kernel gives to connections: one could have it in an outage.
  const [port = 0] = await freePorts(1);
  const api = await startApiServer({ port, tokens: { [TOKEN]: { user, may: grantedTo(account, manifests) } } });
  api.store.seed(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: node },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [] },
  });
  const seedNode = (): unknown => api.store.seed(KUBELET_NODES, { metadata: { name: node }, spec: {} });
  seedNode();
  const setSpec = (spec: unknown): unknown => api.store.patch(KUBELET_NODES, node, { spec });
  const found = (): KubeletNode => api.store.get(KUBELET_NODES, node) as unknown as KubeletNode;
  return {
    url: api.url,
    token: TOKEN,
    assign(fields, spec = {}) {
      const payload = canonicalize({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        ...fields,
      });
      const name = configMapName('pool', payload);
      const present = api.store.get(CONFIG_MAPS, name, DEFAULT_NAMESPACE);
      const { uid, resourceVersion } = (
        present ??
        api.store.seed(CONFIG_MAPS, {
          metadata: { name, namespace: DEFAULT_NAMESPACE },
          immutable: true,
          data: { [PAYLOAD_KEY]: payload },
        } as never)
      ).metadata;
      const sha256 = payloadSha256(payload);
      const configSource = { namespace: DEFAULT_NAMESPACE, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 };
      setSpec({
        pool: 'pool',
        commit: 'c0ffee'.padEnd(40, '0'),
        configSource,
        apply: 'overlay',
        trial: TRIAL,
        ...spec,
      });
      return name;
    },
    unassign: () => void setSpec({ pool: null, commit: null, configSource: null, apply: null, trial: null }),
    status: () => found().status ?? {},
    forgetStatus() {
      api.store.remove(KUBELET_NODES, node);
      seedNode();
    },
    outage: { begin: api.stop, end: api.start },
    stop: api.stop,
  };
}
