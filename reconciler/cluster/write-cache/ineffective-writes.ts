import type { KubeObject } from '#shared/contract/api/object.ts';
import { KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { setNewest } from '#shared/runtime/set-newest.ts';
import type { Step } from '../../policy/steps.ts';
import { isNodeStep, nodePatch } from '../drains/node-writes.ts';
import {
  contentDigest,
  type FieldPath,
  fieldNameOf,
  diffFields,
  withoutTimestamps,
  withoutFields,
} from './dropped-fields.ts';

/** A field that the API server does not keep as it is sent. */
export interface DroppedField {
  /** `kubeletnodes`. */
  readonly resource: string;
  /** `spec.turn`, `status.holds[].reason`. */
  readonly field: string;
}

/**
 * Keeps writes from being made again and again because the answer does not have what was sent: an older CRD drops the fields that
 * a newer release brings, and a webhook may change any. What is decided would be the same in every pass, for every node.
 */
export interface IneffectiveWrites {
  /** The steps without those that would come to what the API server made of them before. */
  due(steps: readonly Step[]): readonly Step[];
  /** Hears of the object that the API server answered a step with. */
  answered(step: Step, object: KubeObject): void;
  /** What it does not keep now, as far as that was seen. */
  lost(): readonly DroppedField[];
}

/** One object of a kind is tried again this often: its CRD may have been applied since. The others follow where that helps. */
const TRY_AGAIN_MS: Millis = 10 * 60_000;
/** Two halves of each object of the largest fleet. */
const MOST_OBJECTS = 25_000;
/** A map's keys are fields as well. */
const MOST_FIELDS = 50;

interface Tried {
  readonly resource: string;
  readonly dropped: readonly FieldPath[];
  /** Digest of what was wanted, without what was dropped: another value there would be dropped as well. */
  readonly wanted: string;
  /** Digest of what the object has instead. */
  readonly made: string;
  /** For writes of which only the object as it is now tells what they come to: until when they are not tried. */
  readonly untilMs: Millis;
}

/** One half of an object as a step wants it. */
interface Half {
  readonly resource: string;
  readonly key: string;
  readonly part: 'spec' | 'status';
  readonly wanted: object;
  readonly present: object | undefined;
}

export function createIneffectiveWrites(clock: Clock, log: Log): IneffectiveWrites {
  const tried = new Map<string, Tried>();
  const triedAt = new Map<string, Millis>();
  const fields = new Map<string, DroppedField>();

  /** The write itself finds out why an object is unreadable. */
  function isKnownFutile(step: Step): boolean {
    try {
      return isFutile(step);
    } catch {
      return false;
    }
  }

  function isFutile(step: Step): boolean {
    if (isNodeStep(step)) return clock.monotonic() < (tried.get(keyOfNode(step))?.untilMs ?? 0);
    const half = halfOf(step);
    const before = half === null ? undefined : tried.get(half.key);
    if (half === null || before === undefined) return false;
    const same = before.made === contentDigest(half.present) && before.wanted === digestOfWanted(half, before.dropped);
    return same && !isTurnToTry(half.resource);
  }

  function isTurnToTry(resource: string): boolean {
    const now = clock.monotonic();
    if (now - (triedAt.get(resource) ?? now) < TRY_AGAIN_MS) return false;
    triedAt.set(resource, now);
    return true;
  }

  function remember(key: string, entry: Tried): void {
    setNewest(tried, key, entry, MOST_OBJECTS);
    if (!triedAt.has(entry.resource)) triedAt.set(entry.resource, clock.monotonic());
  }

  /** It keeps what it did not keep before: so it may with all objects of the kind. */
  function forget(resource: string): void {
    for (const [key, entry] of tried) if (entry.resource === resource) tried.delete(key);
    for (const [name, field] of fields) if (field.resource === resource) fields.delete(name);
    triedAt.delete(resource);
  }

  function say(resource: string, field: string, how: 'drops' | 'changes'): void {
    const name = `${resource} ${field}`;
    if (fields.has(name) || fields.size >= MOST_FIELDS) return;
    fields.set(name, { resource, field });
    log.warn({ resource, field }, SAID[how]);
  }

  return {
    due: (steps) => (tried.size === 0 ? steps : steps.filter((step) => !isKnownFutile(step))),
    answered(step, object) {
      if (isNodeStep(step)) {
        const key = keyOfNode(step);
        if (nodePatch(step, object) === null) return void tried.delete(key);
        const untilMs = clock.monotonic() + TRY_AGAIN_MS;
        say('nodes', step.step === 'untaint' ? 'spec.taints' : 'spec.unschedulable', 'changes');
        return remember(key, { resource: 'nodes', dropped: [], wanted: '', made: '', untilMs });
      }
      const half = halfOf(step, object);
      if (half === null) return;
      const { key, resource, part } = half;
      const made = (object as { readonly [P in 'spec' | 'status']?: object })[part];
      const { dropped, changed } = diffFields(half.wanted, made);
      if (dropped.length + changed.length === 0) {
        if (tried.has(key)) forget(resource);
        return;
      }
      for (const path of dropped) say(resource, fieldNameOf([part, ...path]), 'drops');
      for (const path of changed) say(resource, fieldNameOf([part, ...path]), 'changes');
      const digests = { wanted: digestOfWanted(half, dropped), made: contentDigest(made) };
      remember(key, { resource, dropped, ...digests, untilMs: 0 });
    },
    lost: () => [...fields.values()],
  };
}

const SAID = {
  drops: 'the API server drops a field that is sent: apply the CRDs of this release',
  changes: 'the API server keeps a field otherwise than it is sent: look for a webhook that changes it',
};

/** A status is what the reconciler remembers: without all of it, it plans the same with another hour. A spec is an order. */
function digestOfWanted({ part, wanted }: Half, dropped: readonly FieldPath[]): string {
  const kept = withoutFields(wanted, dropped);
  return contentDigest(part === 'status' ? withoutTimestamps(kept) : kept);
}

const keyOfNode = (step: { readonly step: string; readonly uid: string }): string => `nodes ${step.uid} ${step.step}`;

/** @param answer the object that the step created, if it did */
function halfOf(step: Step, answer?: KubeObject): Half | null {
  const half = (
    { plural }: typeof KUBELET_NODES,
    { metadata }: KubeObject,
    part: Half['part'],
    wanted: object,
    present: object | undefined,
  ): Half => ({
    resource: plural,
    key: `${plural} ${metadata.uid ?? metadata.name} ${part}`,
    part,
    wanted,
    present,
  });
  const { step: kind } = step;
  if (kind === 'assign' || kind === 'unassign' || kind === 'amend') {
    return half(KUBELET_NODES, step.node, 'spec', step.spec, step.node.spec);
  }
  if (kind === 'write-pool') return half(KUBELET_POOLS, step.pool, 'spec', step.spec, step.pool.spec);
  if (kind === 'write-pool-status') return half(KUBELET_POOLS, step.pool, 'status', step.status, step.pool.status);
  if (kind !== 'create-pool' || answer === undefined) return null;
  return half(KUBELET_POOLS, answer, 'spec', step.spec, undefined);
}
