import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { withDeadline } from './deadline.ts';
import type { Observation } from './observation.ts';

/** What the agent wants to know of its Node. */
export interface NodeFacts {
  /** `v1.34.2`; undefined until it was read once. */
  readonly kubeletVersion: string | undefined;
  readonly ready: Observation['nodeReady'];
}

export interface OwnNode {
  /** Reads the Node unless the last reading is young enough. Never throws: what cannot be read is `unknown`. */
  look(maxAgeMs: Millis, signal: AbortSignal): Promise<NodeFacts>;
  /** As it was read last. */
  last(): NodeFacts;
}

interface Node extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

/** Short: a kubelet on trial is not to be left alone for an API server that hangs. */
const TIMEOUT_MS = 5_000;

export function createOwnNode(kube: Kube, nodeName: string, clock: Clock): OwnNode {
  let facts: NodeFacts = { kubeletVersion: undefined, ready: 'unknown' };
  let readAt: Millis | undefined;
  return {
    last: () => facts,
    async look(maxAgeMs, parent) {
      if (readAt !== undefined && clock.monotonic() - readAt < maxAgeMs) return facts;
      try {
        const node = await withDeadline(clock, TIMEOUT_MS, parent, (signal) =>
          kube.get<Node>({ resource: NODES }, nodeName, signal),
        );
        readAt = clock.monotonic();
        facts = {
          kubeletVersion: node?.status?.nodeInfo?.kubeletVersion ?? facts.kubeletVersion,
          ready: readyIn(node),
        };
      } catch {
        // The assignment's watch says that the API server is away; here that only means: not known.
        readAt = undefined;
        facts = { ...facts, ready: 'unknown' };
      }
      return facts;
    },
  };
}

/** `Unknown` is what the control plane writes when the kubelet's lease is not renewed. */
function readyIn(node: Node | null): Observation['nodeReady'] {
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined) return 'unknown';
  return ready.status === 'True' ? 'yes' : 'no';
}
