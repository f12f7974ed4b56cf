import type { ClassStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { PayloadClass, PoolClasses } from '../payload-classes.ts';
import type { Member } from '../rollout/membership.ts';

/** Most classes that a status names: those with the most nodes. */
const MOST_CLASSES = 50;

/** The classes of a pool with computed values as its status names them, the largest first. */
export function classStatuses({ byNode }: PoolClasses, members: readonly Member[]): readonly ClassStatus[] {
  const running = new Set(members.filter(({ lifecycle }) => lifecycle.updated).map(({ node }) => node.name));
  const counted = new Map<PayloadClass, { nodes: number; updated: number }>();
  for (const [node, each] of byNode) {
    const count = counted.get(each) ?? { nodes: 0, updated: 0 };
    count.nodes += 1;
    if (running.has(node)) count.updated += 1;
    counted.set(each, count);
  }
  return [...counted]
    .sort(([a, many], [b, more]) => more.nodes - many.nodes || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_CLASSES)
    .map(([{ name, config, because }, { nodes, updated }]) =>
      config === null
        ? { name, nodes, message: because }
        : { name, nodes, updated, configName: config.name, sha256: config.sha256 },
    );
}
