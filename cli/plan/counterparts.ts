import { payloadsEntry } from '#reconciler/git/notes/payloads-entry.ts';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { parseTree } from '#reconciler/git/objects/tree.ts';
import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { readProofs } from '#reconciler/policy/following/payload-proofs.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { NOTES_PREFIX } from '../history/read-history.ts';
import type { LocalRepository } from '../revision/local-repository.ts';
import type { MergePlan, PlanCounterparts } from './merge-plan.ts';

/**
 * By the lists of proven payloads in this clone, as they were fetched.
 *
 * @returns undefined where nobody is followed, no pool is concerned, or a list is not here
 */
export async function counterpartsOf(
  plan: MergePlan,
  follows: Follows | null,
  open: () => Promise<LocalRepository>,
): Promise<PlanCounterparts | undefined> {
  const changed = plan.pools.filter(
    ({ members, nodes, configAfter }) => configAfter !== undefined && members > 0 && nodes.length > 0,
  );
  if (follows === null || changed.length === 0) return undefined;
  const known = new Set<string>();
  try {
    const repository = await open();
    const refs = await repository.refs(NOTES_PREFIX);
    for (const cluster of follows.clusters) {
      const tip = refs.get(cluster);
      if (tip === undefined) return undefined;
      const { tree } = parseCommit(tip, await repository.read(tip, 'commit'));
      const file = payloadsEntry(parseTree(tree, await repository.read(tree, 'tree')));
      const text = file === undefined ? null : (await repository.read(file.oid, 'blob')).toString('utf8');
      const read = readProofs(text, cluster);
      if (read === null) return undefined;
      for (const { pool } of read.proofs) known.add(pool);
    }
  } catch (error) {
    // A clone without these objects says nothing of them.
    if (error instanceof GitopsError) return undefined;
    throw error;
  }
  const pools = changed.map(({ name }) => name).filter((name) => !known.has(name));
  if (pools.length === 0) return undefined;
  return { clusters: follows.clusters, pools, isHeld: follows.require === 'payloads' };
}
