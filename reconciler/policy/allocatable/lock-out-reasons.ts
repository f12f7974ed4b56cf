import {
  type AppliedConfig,
  type MostLeft,
  mostLeft,
  type NodeResource,
  type NodeSize,
  roundToThousandths,
} from './allocatable.ts';
import type { VitalPods } from './vital-pods.ts';

/**
 * Where a config leaves less than the pods request that a node cannot do without: after its next start the kubelet would refuse
 * some of them, and which of them is a matter of chance. It may be the agent, and then no commit reaches the node any more.
 * A config that leaves at least what the node has now makes nothing worse, and may be the way out.
 *
 * @param before null for the node's own config
 * @returns a sentence for each resource, with the arithmetic
 */
export function lockOutReasons(
  node: NodeSize,
  before: AppliedConfig | null,
  after: AppliedConfig,
  vital: VitalPods,
): readonly string[] {
  return mostLeft(node, before, after).flatMap((left) => {
    const { resource } = left;
    const needed = resource === 'pods' ? vital.count : roundToThousandths(vital.requests[resource]);
    if (left.after >= needed) return [];
    const pods = `its ${vital.count} critical and DaemonSet pods`;
    const why = resource === 'pods' ? `${pods} are more` : `${pods} request ${atLeast(resource, needed)}`;
    return [`${leftOver(left)}, and ${why}: after a restart the kubelet would refuse some of them`];
  });
}

/** `1323Mi memory would be left (16384Mi - kubeReserved 512Mi - evictionHard 14549Mi)`. */
function leftOver({ resource, after, capacity, taken }: MostLeft): string {
  const sum = [atMost(resource, capacity), ...taken.map(({ what, amount }) => `${what} ${atLeast(resource, amount)}`)];
  return `${atMost(resource, after)} ${resource} would be left${taken.length === 0 ? '' : ` (${sum.join(' - ')})`}`;
}

/** Rounded away from each other, so that what is less also looks like less. */
const atMost = (resource: NodeResource, amount: number): string => shown(resource, amount, Math.floor);
const atLeast = (resource: NodeResource, amount: number): string => shown(resource, amount, Math.ceil);

function shown(resource: NodeResource, amount: number, round: (value: number) => number): string {
  if (resource === 'pods') return String(amount);
  return resource === 'cpu' ? `${round(roundToThousandths(amount) * 1000)}m` : `${round(amount / 2 ** 20)}Mi`;
}
