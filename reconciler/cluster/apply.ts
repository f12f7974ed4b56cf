import { API_VERSION, FIRST_SEEN_ANNOTATION, MANAGED_BY, MANAGED_BY_LABEL } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { askedToWaitMs, isKubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { unreachable } from '#shared/runtime/errors.ts';
import { writeNode } from './drains/node-writes.ts';
import type { Drains } from './drains/drains.ts';
import { createConfigSource } from './create-config-source.ts';
import type { FailedWrites } from './failed-writes.ts';
import type { FallbackNames } from './fallback-names.ts';
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
  /** Hears what the API server made of what a step sent. */
  readonly answered: (step: Step, object: KubeObject) => void;
  readonly failedWrites: FailedWrites;
  readonly otherNames: FallbackNames;
}

export interface Applied {
  readonly done: number;
  /** Steps that were refused because the world had moved on, or that failed: the next pass decides again. */
  readonly left: number;
  /** Set where the API server asked to be left alone for so long: what is left was not tried. */
  readonly waitMs?: Millis;
}

type Outcome = 'done' | 'left' | { readonly waitMs: Millis };

const AT_ONCE = 8;

/**
 * Makes the writes, in order; steps of one kind that follow each other go side by side, so that a slow one holds up none of them. One
 * that fails stops no other, unless the API server asks for time.
 */
export async function apply(steps: readonly Step[], ports: ApplyPorts, signal: AbortSignal): Promise<Applied> {
  let done = 0;
  let waitMs: Millis | undefined;
  for (const run of runsOfOneKind(ports.failedWrites.due(steps))) {
    if (signal.aborted || !ports.mayWrite() || waitMs !== undefined) break;
    const left = run.values();
    const makeWrites = async (): Promise<void> => {
      for (const step of left) {
        const outcome = await attempt(step, ports, signal);
        if (outcome === 'done') done += 1;
        if (typeof outcome === 'object') waitMs = Math.max(waitMs ?? 0, outcome.waitMs);
        if (waitMs !== undefined) return;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, makeWrites));
  }
  const left = steps.length - done;
  if (waitMs === undefined) return { done, left };
  ports.log.warn({ waitMs, left }, 'the API server asks for time: the pass ends');
  return { done, left, waitMs };
}

function runsOfOneKind(steps: readonly Step[]): readonly (readonly Step[])[] {
  const runs: Step[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[0]?.step === step.step) last.push(step);
    else runs.push([step]);
  }
  return runs;
}

async function attempt(step: Step, ports: ApplyPorts, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted || !ports.mayWrite()) return 'left';
  try {
    if (await perform(step, ports, signal)) logStep(step, ports.log);
    ports.failedWrites.done(step);
    return 'done';
  } catch (error) {
    if (isKubeError(error, 'KUBE_ALREADY_EXISTS')) return 'done';
    const waitMs = askedToWaitMs(error);
    if (waitMs !== undefined) return { waitMs };
    ports.failedWrites.failed(step, error);
    const moved = isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ABORTED');
    ports.log[moved ? 'debug' : 'warn']({ step: step.step, ...subjectOf(step), err: error }, 'write did not succeed');
    return 'left';
  }
}

/** @returns whether anything was left to be done */
async function perform(step: Step, ports: ApplyPorts, signal: AbortSignal): Promise<boolean> {
  const { kube, namespace, drains } = ports;
  const heard = <T extends KubeObject>(written: T | null, hear: (written: T) => void): boolean => {
    if (written === null) return false;
    hear(written);
    ports.answered(step, written);
    return true;
  };
  switch (step.step) {
    case 'create-config-source':
      await createConfigSource(ports, step, signal);
      return true;
    case 'delete-config-source':
      await kube.delete({ resource: CONFIG_MAPS, namespace }, step.name, { uid: step.uid }, signal);
      return true;
    case 'create-node':
      return heard(await kube.create({ resource: KUBELET_NODES }, kubeletNode(step), signal), ports.wrote);
    case 'remember': {
      const { resourceVersion } = step.present.metadata;
      const body = { metadata: { resourceVersion, annotations: step.annotations } };
      return heard(
        await kube.mergePatch<KubeletNode>({ resource: KUBELET_NODES }, step.node, body, {}, signal),
        ports.wrote,
      );
    }
    case 'delete-node':
      await kube.delete({ resource: KUBELET_NODES }, step.node, { uid: step.uid }, signal);
      return true;
    case 'assign':
    case 'unassign':
    case 'amend':
      return heard(await patch(kube, KUBELET_NODES, step.node, 'spec', step.spec, signal), ports.wrote);
    case 'cordon':
    case 'uncordon':
    case 'untaint':
      return heard(await writeNode(kube, step, signal), ports.wroteMarks);
    case 'count-pods':
      await drains.count(step.node, step.at, signal);
      return true;
    case 'evict':
      await drains.evict(step.node, step.since, signal);
      return true;
    case 'create-pool':
      // The overlay lays nothing over a pool that no watch shows yet.
      return heard(await kube.create({ resource: KUBELET_POOLS }, kubeletPool(step), signal), () => undefined);
    case 'write-pool':
      return heard(await patch(kube, KUBELET_POOLS, step.pool, 'spec', step.spec, signal), ports.wrotePool);
    case 'write-pool-status':
      return heard(await patch(kube, KUBELET_POOLS, step.pool, 'status', step.status, signal), ports.wrotePool);
    case 'hold-pool': {
      const [body, options] = [{ status: { conditions: step.conditions } }, { subresource: 'status' as const }];
      ports.answered(step, await kube.mergePatch({ resource: KUBELET_POOLS }, step.pool, body, options, signal));
      return true;
    }
    case 'delete-pool':
      await kube.delete({ resource: KUBELET_POOLS }, step.pool, { uid: step.uid }, signal);
      return true;
    default:
      return unreachable(step);
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

function kubeletNode({ node: name, uid, at }: Extract<Step, { step: 'create-node' }>): KubeletNode {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  const annotations = { [FIRST_SEEN_ANNOTATION]: toTimestamp(at) };
  return { apiVersion: API_VERSION, kind: 'KubeletNode', metadata: { name, annotations, ownerReferences } };
}

function kubeletPool({ pool, spec }: Extract<Step, { step: 'create-pool' }>): KubeletPool {
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY };
  return { apiVersion: API_VERSION, kind: 'KubeletPool', metadata: { name: pool, labels }, spec };
}

const UNTOLD: readonly Step['step'][] = ['write-pool-status', 'count-pods', 'remember', 'hold-pool'];

/** One line for every decision that changed something. */
function logStep(step: Step, log: Log): void {
  if (UNTOLD.includes(step.step)) return;
  log.info({ ...subjectOf(step), ...('because' in step ? { because: step.because } : {}) }, step.step);
}
