import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { JudgePool } from './config-repo/judge-pool.ts';
import type { LoadedPool, ValidPool } from './config-repo/loaded-repo.ts';
import { createClassifier } from './config-repo/pool-of-class.ts';
import type { Fleet } from './fleet.ts';
import { minorsOf } from './judge-nodes.ts';
import { membersOfPools } from './pool-members.ts';

/**
 * Makes what a pool gives its nodes, and judges that for their versions, one piece at a time: all of it is remembered, and a pass that
 * asks for all pools in one go finds it.
 *
 * @param judge remembers what it said
 * @param fleet null: not seen yet
 */
export function* judgeForFleet(pool: LoadedPool, fleet: Fleet | null, judge: JudgePool): Generator<void> {
  if (pool.status === 'invalid' || fleet === null) return;
  const members = membersOfPools([pool], fleet).members.get(pool.name) ?? [];
  const reported = members.map(({ name }) => fleet.kubeletNodes.get(name)?.status?.kubeletVersion);
  const minors = minorsOf([...members.map(({ kubeletVersion }) => kubeletVersion), ...reported]);
  const sort = createClassifier(pool);
  const made = new Set<ValidPool>();
  for (const node of members) {
    const { metadata, status } = fleet.kubeletNodes.get(node.name) ?? {};
    const machine = { ...node, numaNodes: status?.numaNodes };
    const { pool: filled } = sort(machine, metadata?.annotations?.[MACHINE_ANNOTATION]).class;
    if (filled === undefined || made.has(filled)) continue;
    made.add(filled);
    yield;
    for (const minor of minors) {
      judge(filled, [minor]);
      yield;
    }
  }
}
