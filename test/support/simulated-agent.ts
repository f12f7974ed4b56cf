import {
  type ConfigReference,
  type KubeletNode,
  type KubeletNodeStatus,
  LOCAL,
} from '#shared/contract/api/kubelet-node.ts';

/** What the agent of a node would report next. */
export interface NextReport {
  readonly status: KubeletNodeStatus;
  /** Its kubelet was restarted for it. */
  readonly restarted: boolean;
}

/**
 * An agent without a node: hears of an assignment, starts the kubelet with it where that differs from what runs, and
 * promotes it a step later. All that it knows is in the status, so it may be restarted at any time.
 *
 * @returns null where there is nothing new to report
 */
export function nextReport(node: KubeletNode, at: string): NextReport | null {
  const { status = {}, metadata } = node;
  if (status.phase === undefined) return { status: { ...atRest({ name: LOCAL }), heartbeat: at }, restarted: false };
  const wanted = wantedBy(node);
  const observedGeneration = metadata.generation ?? 0;
  const told = (status.observedGeneration ?? 0) < observedGeneration && node.spec !== undefined;
  if (told) {
    const restarted = status.active?.sha256 !== wanted.sha256;
    const phase = restarted ? 'Trial' : 'Idle';
    return {
      status: { ...status, observedGeneration, phase, assigned: wanted, active: wanted, heartbeat: at },
      restarted,
    };
  }
  if (status.phase !== 'Trial') return null;
  return { status: { ...status, ...atRest(wanted), promotedAt: at, heartbeat: at }, restarted: false };
}

const atRest = (config: ConfigReference): KubeletNodeStatus => ({
  phase: 'Idle',
  assigned: config,
  active: config,
  lastKnownGood: config,
});

function wantedBy({ spec }: KubeletNode): ConfigReference {
  const source = spec?.configSource;
  if (source === undefined) return { name: LOCAL };
  const { name, sha256, uid, resourceVersion } = source;
  return { name, sha256, uid, resourceVersion, apply: spec?.apply ?? 'overlay' };
}
