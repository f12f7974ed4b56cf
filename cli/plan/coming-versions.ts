import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { foreseeUpgrades, type UpgradeForesight } from '../foresight/foresee-upgrades.ts';

/** What one step to a newer kubelet brings pools, alike for all of them. */
export interface ComingVersion extends Pick<UpgradeForesight, 'from' | 'to' | 'defaults' | 'meanings'> {
  readonly pools: readonly string[];
}

/**
 * What `foresight` finds for versions that a change adds to `kubeletVersions`, from the newest that was listed on; what they refuse or
 * drop, validation says already. None where nothing newer is added, or no version was listed before.
 */
export function comingVersions(base: LoadedRepo, head: LoadedRepo): readonly ComingVersion[] {
  const newest = (repo: LoadedRepo): number =>
    Math.max(0, ...repo.cluster.kubeletVersions.map((version) => minorNumber(version) ?? 0));
  const [listed, coming] = [newest(base), newest(head)];
  if (listed === 0 || coming <= listed) return [];
  const steps = head.pools.flatMap((pool) =>
    pool.status === 'valid' ? foreseeUpgrades(pool, [minorName(listed)], coming) : [],
  );
  const alike = Map.groupBy(
    steps.filter(({ defaults, meanings }) => defaults.length + meanings.length > 0),
    ({ from, to, defaults, meanings }) => JSON.stringify([from, to, defaults, meanings]),
  );
  return [...alike.values()]
    .flatMap(([first, ...rest]) => {
      if (first === undefined) return [];
      const { from, to, defaults, meanings } = first;
      return [{ from, to, defaults, meanings, pools: [first, ...rest].map(({ pool }) => pool) }];
    })
    .sort((one, other) => (minorNumber(one.to) ?? 0) - (minorNumber(other.to) ?? 0));
}
