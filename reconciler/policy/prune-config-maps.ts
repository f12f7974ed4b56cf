import type { ConfigReference } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Fleet } from './fleet.ts';
import { readProof } from './proof/record.ts';
import type { PlanSettings, Step } from './steps.ts';

/**
 * ConfigMaps to prune: those older than `keepUnusedMs` that no pool wants and no node has.
 *
 * @param wanted  names of the ConfigMaps of the pools as they are desired
 * @param planned the statuses of pools as they are about to be: what this leader knows of a pool counts though its status is lost
 */
export function planPruning(
  wanted: ReadonlySet<string>,
  planned: Iterable<KubeletPoolStatus>,
  fleet: Fleet,
  settings: PlanSettings,
  now: Millis,
): Step[] {
  const old = [...fleet.configSources.values()]
    .filter(({ defect }) => defect !== 'leaving')
    .filter(({ name, createdAt }) => !wanted.has(name) && now - createdAt > settings.keepUnusedMs);
  if (old.length === 0) return [];
  const statuses = [...planned, ...[...fleet.pools.values()].flatMap(({ status }) => status ?? [])];
  const used = namesInUse(fleet, statuses);
  const recorded = recordedHashes(statuses);
  return old
    .filter(({ name, sha256 }) => !used.has(name) && !recorded.has(sha256))
    .map(({ name, uid }) => ({ step: 'delete-config-source', name, uid, because: 'unused' }));
}

/** Every config source that is assigned to a node, active or its fallback, and every pool's present one. */
function namesInUse({ kubeletNodes }: Fleet, statuses: readonly KubeletPoolStatus[]): ReadonlySet<string> {
  const names = new Set<string>();
  const use = (reference: Pick<ConfigReference, 'name'> | undefined): void => {
    if (reference !== undefined) names.add(reference.name);
  };
  for (const { spec, status } of kubeletNodes.values()) {
    use(spec?.configSource);
    use(status?.assigned);
    use(status?.active);
    use(status?.lastKnownGood);
  }
  for (const { configName, settled, classes = [] } of statuses) {
    for (const name of [configName, settled?.configName, ...classes.map((each) => each.configName)])
      if (name !== undefined) names.add(name);
  }
  return names;
}

/** What a revert may need, and the classes of a pool had. */
function recordedHashes(statuses: readonly KubeletPoolStatus[]): ReadonlySet<string> {
  const classes = statuses.flatMap((status) => [...readProof(status).values()]);
  return new Set(
    classes.flatMap(({ current, proven, former }) =>
      [current, proven, former].flatMap((target) => (target === null ? [] : [target.sha256])),
    ),
  );
}
