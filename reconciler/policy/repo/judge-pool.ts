import type { Finding } from '#shared/contract/finding.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import type { ValidPool } from './loaded.ts';

/**
 * What kubelets of these minor versions (`1.34`), those of the pool's nodes, say against its config. Versions that it was
 * judged for when it was loaded (the cluster file's) are left out: that is in the pool's findings.
 */
export function judgePool(pool: ValidPool, minors: readonly string[]): readonly Finding[] {
  const { value, spec, positionOf, judgedFor = [] } = pool;
  const rest = minors.filter((minor) => !judgedFor.includes(minor));
  const file = `pools/${pool.name}/pool.yaml`;
  return validateForVersions(value, rest, {
    apply: spec.apply,
    file,
    tolerate: spec.tolerate ?? [],
    ...(positionOf === undefined ? {} : { positionOf }),
  });
}
