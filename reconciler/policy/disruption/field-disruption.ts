import { diffPayloads, type FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import type { PodFeature } from '#shared/contract/kubelet-config/feature-gates/gate-cost.ts';
import type { ChangeCost } from '#shared/contract/kubelet-config/fields/field.ts';

type Payload = Readonly<Record<string, unknown>>;

/** What a change of fields does to a live node: a restart, a drain or a reboot. never: it cannot be made there at all. */
export interface Disruption {
  readonly class: 'restart' | 'drain' | 'reboot' | 'never';
  /** `maxPods`, where the change may lower it: a node on which more run has to be drained all the same. */
  readonly podLimit?: number;
  /** The fields that ask for the drain or the reboot, dotted; none where a restart is enough. */
  readonly fields: readonly string[];
  /** Features that go off, for a drain that only pods with a need for one of them ask for; see `drainForFeatures`. */
  readonly features?: readonly PodFeature[];
}

const FROM_MILDEST = ['restart', 'drain', 'reboot', 'never'] as const;

/**
 * Whether a change of payload asks for a drain, a reboot or only a restart, by the cost of each changed field in the field table.
 *
 * @param minor of its kubelet, 34; if unknown, the greatest possible cost counts
 */
export function disruptionOf(before: Payload | null, after: Payload | null, minor?: number): Disruption {
  const changes = diffPayloads(before, after, minor);
  const classOf = ({ cost }: FieldChange): Disruption['class'] => classFor(cost, before, after);
  const worst = FROM_MILDEST.findLast((each) => changes.some((change) => classOf(change) === each)) ?? 'restart';
  if (worst === 'restart') return { class: worst, fields: [], ...podLimitOf(before, after) };
  const asking = changes.filter((change) => classOf(change) === worst);
  return {
    class: worst,
    fields: asking.map(({ path }) => path),
    ...featuresOf(asking),
    ...podLimitOf(before, after),
  };
}

function featuresOf(asking: readonly FieldChange[]): Pick<Disruption, 'features'> {
  const isForPodsOnly = asking.every(({ features }) => features !== undefined);
  return isForPodsOnly ? { features: [...new Set(asking.flatMap(({ features = [] }) => features))] } : {};
}

/**
 * A manager whose state file is put aside gives its CPUs or its memory out again: pods that run are moved off what they were
 * given for themselves, or lose it to others. (kubernetes.io, "Control CPU Management Policies on the Node": drain first.)
 * If no manager gives anything out before or after, no pod is moved.
 */
function classFor(cost: ChangeCost, before: Payload | null, after: Payload | null): Disruption['class'] {
  const isEither = (policy: string, value: string): boolean =>
    [before, after].some((payload) => payload?.[policy] === value);
  if (cost === 'state-file:cpu') return isEither('cpuManagerPolicy', 'static') ? 'drain' : 'restart';
  if (cost === 'state-file:memory') return isEither('memoryManagerPolicy', 'Static') ? 'drain' : 'restart';
  return cost;
}

/** A kubelet that comes up with less room than its pods need rejects some of those that run. */
export function podLimitOf(before: Payload | null, after: Payload | null): Pick<Disruption, 'podLimit'> {
  const [then, now] = [before?.['maxPods'], after?.['maxPods']];
  const mayShrink = typeof now === 'number' && (typeof then !== 'number' || now < then);
  return mayShrink ? { podLimit: now } : {};
}
