import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { ClassPool } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { leafPaths } from '#reconciler/policy/templates/template.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { classFor } from '../class-of-node.ts';
import type { ClassPlan } from './merge-plan.ts';
import { UNSET, unsetMeaning } from './unset-meaning.ts';
import { isMap } from '#shared/runtime/maps.ts';

/**
 * The classes of machines in a pool with computed values, with what each gets, the largest first; none for other pools.
 *
 * @param before what a node has of its pool until now
 */
export function planClasses(
  pool: ValidPool | undefined,
  members: readonly InventoryNode[],
  before: (node: InventoryNode) => ValidPool | undefined,
): readonly ClassPlan[] {
  const { template } = pool ?? {};
  if (pool === undefined || template === undefined) return [];
  const byClass = new Map<ClassPool, InventoryNode[]>();
  for (const node of members) {
    const known = classFor(pool, node);
    byClass.set(known, [...(byClass.get(known) ?? []), node]);
  }
  return [...byClass]
    .map(
      ([
        {
          class: { name },
          pool: given,
          because,
        },
        nodes,
      ]): ClassPlan => ({
        name,
        nodes: nodes.map((node) => node.name),
        ...(given === undefined ? { because: because ?? '' } : { config: given.configName }),
        values:
          given === undefined
            ? []
            : leafPaths(template)
                .map(({ path }) => ({
                  field: formatPath(path),
                  before: [...new Set(nodes.map((node) => shown(before(node), path)))].join(' or '),
                  after: shown(given, path),
                }))
                .toSorted((a, b) => (a.field < b.field ? -1 : 1)),
      }),
    )
    .sort((a, b) => b.nodes.length - a.nodes.length || (a.name < b.name ? -1 : 1));
}

/** Why a pool with computed values reaches none of its nodes; undefined where there is a config for one of them, or no class. */
export function computedForNone([first, ...rest]: readonly ClassPlan[]): string | undefined {
  if (first?.because === undefined || rest.some(({ because }) => because === undefined)) return undefined;
  return `none of its machines has a config: ${first.because}`;
}

/** As it would be written; where no layer sets it, what counts then. */
function shown(pool: ValidPool | undefined, path: Path): string {
  let value: unknown = pool?.value;
  for (const key of path) value = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (value === undefined) return UNSET[unsetMeaning(pool, pool).after];
  return typeof value === 'string' ? value : JSON.stringify(value);
}
