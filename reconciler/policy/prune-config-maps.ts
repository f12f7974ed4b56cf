import type { ConfigReference } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from './fleet.ts';
import type { PlanSettings, Step } from './steps.ts';

/**
 * ConfigMaps to prune: those older than `keepUnusedMs` that no pool wants and no node has.
 *
 * @param wanted names of the ConfigMaps of the pools as they are desired
 */
export function planPruning(wanted: ReadonlySet<string>, fleet: Fleet, settings: PlanSettings, now: Millis): Step[] {
  const old = [...fleet.configSources.values()]
    .filter(({ defect }) => defect !== 'leaving')
    .filter(({ name, createdAt }) => !wanted.has(name) && now - createdAt > settings.keepUnusedMs);
  if (old.length === 0) return [];
  const used = namesInUse(fleet);
  return old
    .filter(({ name }) => !used.has(name))
    .map(({ name, uid }) => ({ step: 'delete-config-source', name, uid, because: 'unused' }));
}

/** Every config source that is assigned to a node, active or its fallback, and every pool's present one. */
function namesInUse(fleet: Fleet): ReadonlySet<string> {
  const names = new Set<string>();
  const use = (reference: Pick<ConfigReference, 'name'> | undefined): void => {
    if (reference !== undefined) names.add(reference.name);
  };
  for (const { spec, status } of fleet.kubeletNodes.values()) {
    use(spec?.configSource);
    use(status?.assigned);
    use(status?.active);
    use(status?.lastKnownGood);
  }
  for (const { status } of fleet.pools.values()) {
    if (status?.configName !== undefined) names.add(status.configName);
    if (status?.settled !== undefined) names.add(status.settled.configName);
    for (const { configName } of [...(status?.settled?.classes ?? []), ...(status?.classes ?? [])]) {
      if (configName !== undefined) names.add(configName);
    }
  }
  return names;
}
