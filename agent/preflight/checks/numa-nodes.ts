import { type Check, refuse } from '../preflight-check.ts';

/** `defaultMaxAllowableNUMANodes` of the topology manager. */
const USUAL_MOST = 8;

/** A topology manager with a policy does not start on more NUMA nodes than it is allowed (topology_manager.go, `NewManager`, 1.20 to 1.37). */
export const numaNodesForTopology: Check = ({ view }, { numaNodes }) => {
  const policy = view.text('topologyManagerPolicy') ?? 'none';
  const isManaged = view.minor > 26 || view.gate('TopologyManager');
  if (numaNodes === undefined || policy === 'none' || !isManaged) return [];
  const option = view.entries('topologyManagerPolicyOptions').find(([name]) => name === OPTION)?.[1];
  const most = option === undefined ? USUAL_MOST : Number(option);
  if (numaNodes.size <= most || Number.isNaN(most)) return [];
  const message = `this node has ${numaNodes.size} NUMA nodes, and the kubelet does not start with topologyManagerPolicy ${policy} on more than ${most}`;
  const advice =
    view.minor < 31
      ? 'set topologyManagerPolicy: none'
      : `set topologyManagerPolicyOptions: {${OPTION}: "${numaNodes.size}"}, or topologyManagerPolicy: none`;
  return [refuse('too-many-numa-nodes', 'topologyManagerPolicy', message, advice)];
};

const OPTION = 'max-allowable-numa-nodes';

/** CPUs are aligned by socket only where a socket is at least one NUMA node (cpumanager, `ValidateStaticPolicyOptions`, from 1.25 on). */
export const socketsForAlignment: Check = ({ view }, { numaNodes, sockets }) => {
  if (!alignsBySocket(view) || numaNodes === undefined || sockets === undefined || sockets <= numaNodes.size) return [];
  const message = `this node has ${sockets} sockets and ${numaNodes.size} NUMA nodes, and the kubelet does not start with align-by-socket then`;
  return [refuse('too-few-numa-nodes', 'cpuManagerPolicyOptions', message, 'take align-by-socket out')];
};

/** Whether it matters how many sockets the machine has. */
export const alignsBySocket = (view: Parameters<Check>[0]['view']): boolean =>
  view.text('cpuManagerPolicy') === 'static' &&
  view
    .entries('cpuManagerPolicyOptions')
    .some(([name, value]) => name === 'align-by-socket' && /^(?:1|t|T|TRUE|true|True)$/.test(value));
