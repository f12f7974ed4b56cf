import type { NodeView } from '#reconciler/policy/fleet.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { KUBELET, load, POOL, pool } from '../../reconciler/policy/config-repo/support/load.ts';
import { nodeView } from '../fleet.ts';
import type { FleetSimulation } from '../fleet-simulation.ts';

const COMPUTED = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';

/** A pool `x` that reserves as the expressions say, all nodes at once unless `rollout` says otherwise. */
export function sizedPool(computed: string, rollout = '{maxUnavailable: 1}', more = ''): ValidPool {
  const tree = {
    'pools/x/pool.yaml': `${POOL}  layers: [plain.yaml, computed.yaml]\n  rollout: ${rollout}\n  trial: {duration: 1m}\n${more}`,
    'pools/x/plain.yaml': `${KUBELET}podPidsLimit: 4096\n`,
    'pools/x/computed.yaml': `${COMPUTED}${computed}`,
  };
  const found = pool(load(tree), 'x');
  if (found.status !== 'valid') throw new Error(found.findings.map(formatFinding).join());
  return found;
}

/** A node of pool `x` with so many GiB, as its Node says it. */
export function sizedNode(name: string, cpu: number, gibibytes: number, view: Partial<NodeView> = {}): NodeView {
  const capacity = {
    cpu: String(cpu),
    memory: `${Math.round(gibibytes * 1024 * 1024)}Ki`,
    pods: '110',
    'ephemeral-storage': '100Gi',
  };
  const size = { kubeletVersion: 'v1.36.1', capacity, allocatable: capacity };
  return nodeView(name, 'x', { size, kubeletVersion: 'v1.36.1', ...view });
}

/** Nodes of three sizes. */
export const small = (name: string, view: Partial<NodeView> = {}) => sizedNode(name, 2, 7.7, view);
export const medium = (name: string, view: Partial<NodeView> = {}) => sizedNode(name, 8, 31, view);
export const large = (name: string, view: Partial<NodeView> = {}) => sizedNode(name, 16, 62.3, view);

/** SHA-256 of what the pool gives a machine like this node. */
export function shaFor(pool: ValidPool, node: NodeView): string {
  const { pool: found, because } = poolOfNode(pool, node).class;
  if (found === undefined) throw new Error(because);
  return found.sha256;
}

/** What a node runs and has proven; `local` for its own. */
export const provedBy = ({ fleet }: FleetSimulation, name: string): string =>
  fleet.kubeletNodes.get(name)?.status?.lastKnownGood?.sha256 ?? 'local';

/** What a node was told to run. */
export const toldTo = ({ fleet }: FleetSimulation, name: string): string =>
  fleet.kubeletNodes.get(name)?.spec?.configSource?.sha256 ?? 'local';
