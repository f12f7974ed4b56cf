import { nodeReportOf, statusOf } from '#agent/report/kubelet-node-status.ts';
import { API_VERSION, FIRST_SEEN_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import { type Kube, KUBELET_NODES } from '#shared/kube/kube.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { A, AT, idle, seen, wanting } from '../../test/support/agent/states.ts';
import { nodeName } from '../../test/support/fleet-process/node-object.ts';

const HOW = { subresource: 'status' } as const;
/** Thousands at once, and the API server answers none of them in time. */
const AT_ONCE = 8;

const SPEC: KubeletNodeSpec = {
  pool: 'general',
  commit: '0123456789abcdef0123456789abcdef01234567',
  configSource: A.source,
  apply: 'overlay',
  trial: { duration: '10m', startTimeout: '2m', maxRestarts: 2 },
  drift: 'repair',
};

/** What an agent says of a node that runs its config and has proven it. */
const STATUS = statusOf(
  nodeReportOf({
    state: idle(A),
    seen: seen(wanting(A), { generation: 2, guard: { guard: 'disarmed' } }),
    actions: [],
    agentVersion: '0.1.0',
    fault: null,
    diskProblems: [],
  }),
  {},
);

/** KubeletNodes as they come to be: the reconciler makes them, then assigns; the agent writes the status. */
export async function createKubeletNodes(kube: Kube, count: number): Promise<void> {
  await each(count, async (index) => {
    const name = nodeName(index);
    await kube.create<KubeletNode>({ resource: KUBELET_NODES }, kubeletNode(name, index));
    await kube.mergePatch({ resource: KUBELET_NODES }, name, { spec: SPEC });
    await kube.mergePatch({ resource: KUBELET_NODES }, name, { status: { ...STATUS, heartbeat: AT } }, HOW);
  });
}

/** A sign of life of each agent: one write each. @param round the time that it says; the same again would change nothing */
export async function beatEach(kube: Kube, count: number, round: number): Promise<void> {
  const status = { heartbeat: toTimestamp(Date.parse(AT) + (round + 1) * HEARTBEAT_MS) };
  await each(count, async (index) => {
    await kube.mergePatch({ resource: KUBELET_NODES }, nodeName(index), { status }, HOW);
  });
}

async function each(count: number, act: (index: number) => Promise<void>): Promise<void> {
  const indices = Array.from({ length: count }, (_, index) => index).values();
  const work = async (): Promise<void> => {
    for (const index of indices) await act(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function kubeletNode(name: string, index: number): KubeletNode {
  const uid = `ec2c0000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  return {
    apiVersion: API_VERSION,
    kind: 'KubeletNode',
    metadata: { name, annotations: { [FIRST_SEEN_ANNOTATION]: AT }, ownerReferences },
  };
}
