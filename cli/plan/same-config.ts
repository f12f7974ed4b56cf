import { sameIdentity } from '#shared/contract/api/config-identity.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { targetWith } from '#reconciler/policy/payload-classes.ts';

/**
 * Whether two pools give a node the same config. Of one pool, lists of fields alone change none (`settled-keep.ts`); between two, what
 * each keeps of the node's own config counts.
 */
export function isSameConfig(a: ValidPool | undefined, b: ValidPool | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const lists = a.name === b.name ? a.spec : b.spec;
  return sameIdentity(
    targetWith(a.sha256, a.spec),
    targetWith(b.sha256, { apply: b.spec.apply, keepFields: lists.keepFields ?? [] }),
  );
}
