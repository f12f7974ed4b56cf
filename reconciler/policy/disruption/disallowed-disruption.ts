import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Disruption } from './field-disruption.ts';

/** Why a pool does not allow this disruption, and what would allow it; null if it does. */
export function disallowedDisruption(
  { class: needed, fields }: Pick<Disruption, 'class' | 'fields'>,
  { allow }: Pick<DisruptionSpec, 'allow'> = { allow: ['restart'] },
): string | null {
  const what = fields.slice(0, 3).join(', ');
  if (needed === 'never') return `${what} cannot be changed on a node that lives: replace the node instead`;
  if (needed === 'restart' || allow.includes(needed)) return null;
  const how = needed === 'drain' ? 'the node to be drained' : 'the machine to be rebooted';
  return `the change of ${what} needs ${how}: allow it with disruption.allow: [${[...allow, needed].join(', ')}]`;
}
