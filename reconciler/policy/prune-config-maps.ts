import type { ConfigReference } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from './fleet.ts';
import { readProof } from './proof/record.ts';
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
  const recorded = recordedHashes(fleet);
  return old
    .filter(({ name, sha256 }) => !used.has(name) && !recorded.has(sha256))
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
    for (const { configName } of status?.classes ?? []) if (configName !== undefined) names.add(configName);
  }
  return names;
}

/** What a revert may need, and the classes of a pool had. */
function recordedHashes({ pools }: Fleet): ReadonlySet<string> {
  const classes = [...pools.values()].flatMap(({ status }) => [...readProof(status).values()]);
  return new Set(
    classes.flatMap(({ current, proven, former }) =>
      [current, proven, former].flatMap((target) => (target === null ? [] : [target.sha256])),
    ),
  );
}
