import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { type DesiredConfig, isIntact } from './config-map-name.ts';
import type { Desired, DesiredPool } from './desired.ts';
import type { Fleet } from './fleet.ts';
import { planPruning } from './prune-config-maps.ts';
import type { PlanSettings, Step } from './steps.ts';

/**
 * Config sources to make and to delete. They are never edited: one whose content is not what its name says is deleted and
 * made again, one that nothing refers to goes after a while.
 *
 * @param planned the statuses of pools as they are about to be
 */
export function planConfigSources(
  desired: Desired,
  fleet: Fleet,
  settings: PlanSettings,
  now: Millis,
  planned: Iterable<KubeletPoolStatus> = [],
): Step[] {
  const steps: Step[] = [];
  const wanted = new Set<string>();
  const configs = [...desired.pools.values()].flatMap((pool) => configsOf(pool).map((config) => ({ pool, config })));
  for (const { pool, config } of configs) {
    wanted.add(config.name);
    const present = fleet.configSources.get(config.name);
    if (present !== undefined && isIntact(present, config.sha256)) continue;
    // The bytes of a kept pool are nowhere but in the cluster: without them it can only be reported, not fixed.
    if (config.payload === undefined) continue;
    // A finalizer may keep a deleted one in the way for as long as it likes: the config gets another name then.
    if (present !== undefined && present.defect !== 'leaving') {
      steps.push({ step: 'delete-config-source', name: present.name, uid: present.uid, because: 'tampered' });
    }
    const { payload } = config;
    steps.push({
      step: 'create-config-source',
      pool: pool.name,
      config: { ...config, payload },
      commit: pool.commit ?? '',
    });
  }
  return [...steps, ...planPruning(wanted, planned, fleet, settings, now)];
}

/** What the nodes of a pool get: of computed values, what each class does. */
function configsOf({ config, classes }: DesiredPool): readonly DesiredConfig[] {
  if (config === null) return [];
  return classes === undefined ? [config] : [...classes.configs.values()];
}
