import { diffPayloads, type FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import type { ChangeCost } from '#shared/contract/kubelet-config/fields/field.ts';

type Payload = Readonly<Record<string, unknown>>;

/** What a change does to a live node. never: it cannot be made there at all. */
export interface Disruption {
  readonly class: 'restart' | 'drain' | 'reboot' | 'never';
  /** The fields that ask for it, dotted; none where a restart is enough. */
  readonly fields: readonly string[];
}

/** State files of the managers are put aside in the step that restarts the kubelet: that needs nothing more. */
const CLASSES: Readonly<Record<ChangeCost, Disruption['class']>> = {
  restart: 'restart',
  'state-file:cpu': 'restart',
  'state-file:memory': 'restart',
  drain: 'drain',
  reboot: 'reboot',
  never: 'never',
};

const FROM_MILDEST = ['restart', 'drain', 'reboot', 'never'] as const;

/** What it does to a node to run another payload, from what the field table says that each changed field costs. */
export function disruptionOf(before: Payload | null, after: Payload | null): Disruption {
  const changes = diffPayloads(before, after);
  const worst = FROM_MILDEST.findLast((each) => changes.some((change) => classOf(change) === each)) ?? 'restart';
  const fields = changes.filter((change) => classOf(change) === worst).map(({ path }) => path);
  return { class: worst, fields: worst === 'restart' ? [] : fields };
}

const classOf = ({ cost }: FieldChange): Disruption['class'] => CLASSES[cost];
