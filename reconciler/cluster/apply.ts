import { API_VERSION, MANAGED_BY, MANAGED_BY_LABEL } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { askedToWaitMs, isKubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { unreachable } from '#shared/runtime/errors.ts';
import { writeNode } from './drains/node-writes.ts';
import type { Drains } from './drains/drains.ts';
import { createConfigSource } from './create-config-source.ts';
import { type Step, subjectOf } from '../policy/steps.ts';

export interface ApplyPorts {
  readonly kube: Kube;
  readonly namespace: string;
  readonly log: Log;
  /** Asked before every write: a reconciler that lost its Lease writes nothing more. */
  readonly mayWrite: () => boolean;
  readonly drains: Drains;
  /** Hears of every KubeletNode as the API server has it after a write. */
  readonly wrote: (node: KubeletNode) => void;
  readonly wrotePool: (pool: KubeletPool) => void;
  /** The same of a Node that was cordoned, uncordoned or untainted. */
  readonly wroteMarks: (node: KubeObject) => void;
}

export interface Applied {
  readonly done: number;
  /** Steps that were refused because the world had moved on, or that failed: the next pass decides anew. */
  readonly left: number;
  /** Set where the API server asked to be left alone for so long: what is left was not tried. */
  readonly waitMs?: Millis;
}

type Outcome = 'done' | 'left' | { readonly waitMs: Millis };

const AT_ONCE = 8;

/**
 * Makes the writes, in order; steps of one kind that follow each other go side by side. One that fails stops no other, unless the
 * API server asks for time.
 */
export async function apply(steps: readonly Step[], ports: ApplyPorts, signal: AbortSignal): Promise<Applied> {
  let done = 0;
  for (const batch of batches(steps)) {
    if (signal.aborted || !ports.mayWrite()) break;
    const outcomes = await Promise.all(batch.map((step) => attempt(step, ports, signal)));
    done += outcomes.filter((outcome) => outcome === 'done').length;
    const waits = outcomes.flatMap((outcome) => (typeof outcome === 'object' ? [outcome.waitMs] : []));
    if (waits.length === 0) continue;
    const [waitMs, left] = [Math.max(...waits), steps.length - done];
    ports.log.warn({ waitMs, left }, 'the API server asks for time: the pass ends');
    return { done, left, waitMs };
  }
  return { done, left: steps.length - done };
}

function batches(steps: readonly Step[]): readonly (readonly Step[])[] {
  const all: Step[][] = [];
  for (const step of steps) {
    const last = all.at(-1);
    if (last !== undefined && last.length < AT_ONCE && last[0]?.step === step.step) last.push(step);
    else all.push([step]);
  }
  return all;
}

async function attempt(step: Step, ports: ApplyPorts, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted || !ports.mayWrite()) return 'left';
  try {
    await perform(step, ports, signal);
    logStep(step, ports.log);
    return 'done';
  } catch (error) {
    if (isKubeError(error, 'KUBE_ALREADY_EXISTS')) return 'done';
    const waitMs = askedToWaitMs(error);
    if (waitMs !== undefined) return { waitMs };
    const moved = isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ABORTED');
    ports.log[moved ? 'debug' : 'warn']({ step: step.step, ...subjectOf(step), err: error }, 'write did not succeed');
    return 'left';
  }
}

async function perform(
  step: Step,
  { kube, namespace, wrote, wrotePool, wroteMarks, drains }: ApplyPorts,
  signal: AbortSignal,
): Promise<void> {
  switch (step.step) {
    case 'create-config-source':
      return createConfigSource(kube, step, namespace, signal);
    case 'delete-config-source':
      return kube.delete({ resource: CONFIG_MAPS, namespace }, step.name, { uid: step.uid }, signal);
    case 'create-node':
      wrote(await kube.create({ resource: KUBELET_NODES }, kubeletNode(step.node, step.uid), signal));
      return;
    case 'delete-node':
      return kube.delete({ resource: KUBELET_NODES }, step.node, { uid: step.uid }, signal);
    case 'assign':
    case 'unassign':
    case 'amend': {
      const written = await patch(kube, KUBELET_NODES, step.node, 'spec', step.spec, signal);
      if (written !== null) wrote(written);
      return;
    }
    case 'cordon':
    case 'uncordon':
    case 'untaint': {
      const written = await writeNode(kube, step, signal);
      if (written !== null) wroteMarks(written);
      return;
    }
    case 'count-pods':
      return drains.count(step.node, step.at, signal);
    case 'evict':
      return drains.evict(step.node, step.since, signal);
    case 'create-pool':
      await kube.create({ resource: KUBELET_POOLS }, kubeletPool(step), signal);
      return;
    case 'write-pool': {
      const written = await patch(kube, KUBELET_POOLS, step.pool, 'spec', step.spec, signal);
      if (written !== null) wrotePool(written);
      return;
    }
    case 'write-pool-status': {
      const written = await patch(kube, KUBELET_POOLS, step.pool, 'status', step.status, signal);
      if (written !== null) wrotePool(written);
      return;
    }
    case 'delete-pool':
      return kube.delete({ resource: KUBELET_POOLS }, step.pool, { uid: step.uid }, signal);
    default:
      unreachable(step);
  }
}

/** Writes one half of an object as it is to be, refused if anybody wrote it since it was read. */
async function patch<T extends KubeObject, Part extends 'spec' | 'status'>(
  kube: Kube,
  resource: typeof KUBELET_NODES,
  present: T & { readonly [P in Part]?: object },
  part: Part,
  wanted: object,
  signal: AbortSignal,
): Promise<T | null> {
  const difference = mergeDiff({ ...present[part] }, { ...wanted });
  if (difference === null && present[part] !== undefined) return null;
  const { name, resourceVersion } = present.metadata;
  const body = { metadata: { resourceVersion }, [part]: difference ?? {} };
  const options = part === 'status' ? { subresource: 'status' as const } : {};
  return kube.mergePatch<T>({ resource }, name, body, options, signal);
}

function kubeletNode(name: string, uid: string): KubeletNode {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  return { apiVersion: API_VERSION, kind: 'KubeletNode', metadata: { name, ownerReferences } };
}

function kubeletPool({ pool, spec }: Extract<Step, { step: 'create-pool' }>): KubeletPool {
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY };
  return { apiVersion: API_VERSION, kind: 'KubeletPool', metadata: { name: pool, labels }, spec };
}

/** One line for every decision that changed something. */
function logStep(step: Step, log: Log): void {
  if (step.step === 'write-pool-status' || step.step === 'count-pods') return;
  log.info({ ...subjectOf(step), ...('because' in step ? { because: step.because } : {}) }, step.step);
}
