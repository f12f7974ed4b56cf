import { type ConfigIdentity, sameIdentity, writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from './config-repo/loaded-repo.ts';
import type { DesiredPool } from './desired.ts';
import type { Fleet } from './fleet.ts';
import { targetWith } from './payload-classes.ts';
import { activeConfigOf, assignmentOf, sameTarget } from './rollout/node-progress.ts';

/**
 * A pool whose config is in force already, with the fields kept that its nodes keep: neither a release of this software nor a list of
 * fields alone changes a file on a node. The next config keeps what is denied by then.
 *
 * @param known   the pool as a commit in force said it since the start
 * @param present the same as the cluster says it, which others may have written: it counts where a node runs it
 */
export function withSettledKeep(
  pool: ValidPool,
  known: DesiredPool | undefined,
  present: KubeletPool | undefined,
  fleet: Fleet,
): ValidPool {
  const settled = (known ?? present)?.spec;
  if (settled?.apply !== 'replace') return pool;
  const target = targetWith(pool.sha256, settled);
  if (sameTarget(target, targetWith(pool.sha256, pool.spec))) return pool;
  if (known === undefined && !isShown(pool.name, target, fleet)) return pool;
  const made = pinned.get(pool);
  if (made !== undefined && sameTarget(target, targetWith(pool.sha256, made.spec))) return made;
  const { keepFields: _, ...spec } = pool.spec;
  const next = { ...pool, spec: { ...spec, ...writtenKeep(settled) } };
  pinned.set(pool, next);
  return next;
}

/** So that the pool of one commit is one value from pass to pass. */
const pinned = new WeakMap<ValidPool, ValidPool>();

/** Whether a node of the pool was told a payload with these fields kept, and runs it; of computed values, any of the pool's. */
function isShown(pool: string, { keepFields = [] }: ConfigIdentity, { kubeletNodes }: Fleet): boolean {
  return [...kubeletNodes.values()].some((node) => {
    const told = node.spec?.pool === pool ? assignmentOf(node) : null;
    if (told?.apply !== 'replace' || !sameTarget(activeConfigOf(node), told)) return false;
    return sameIdentity(told, { ...told, keepFields });
  });
}
