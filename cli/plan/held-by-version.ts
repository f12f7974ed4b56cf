import { hasErrors } from '#shared/contract/finding.ts';
import { poolJudge } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { createVerdictCache } from '#reconciler/policy/config-repo/verdict-cache.ts';
import { minorsOf } from '#reconciler/policy/judge-nodes.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';

/** Whether the reconciler would hold a node because kubelets of its minor version refuse the config. */
export function heldByVersion(): (node: InventoryNode, config: ValidPool) => boolean {
  const judge = poolJudge(createVerdictCache(MOST_VERDICTS));
  return ({ kubeletVersion }, config) => hasErrors(judge(config, minorsOf([kubeletVersion])));
}

/** Of every config and version of a plan. */
const MOST_VERDICTS = 1_000;
