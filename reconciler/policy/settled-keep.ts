import { type ConfigIdentity, identityIn, sameIdentity, writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { ValidPool } from './config-repo/loaded-repo.ts';
import type { Fleet } from './fleet.ts';
import { targetWith } from './payload-classes.ts';

/**
 * A pool whose config is in force already, with the fields kept that its nodes keep: neither a release of this software nor a list of
 * fields alone changes a file on a node. The next config keeps what is denied by then.
 *
 * @param known   its spec as a commit in force said it since the start
 * @param present the same as the cluster says it, which others may have written: it counts where a node runs it
 */
export function withSettledKeep(
  pool: ValidPool,
  known: KubeletPoolSpec | undefined,
  present: KubeletPoolSpec | undefined,
  fleet: Fleet,
): ValidPool {
  const settled = known ?? present;
  if (settled?.apply !== 'replace') return pool;
  const target = targetWith(pool.sha256, settled);
  if (sameIdentity(target, targetWith(pool.sha256, pool.spec))) return pool;
  if (known === undefined && !isShown(pool.name, target, fleet)) return pool;
  const made = pinned.get(pool);
  if (made !== undefined && sameIdentity(target, targetWith(pool.sha256, made.spec))) return made;
  const { keepFields: _, ...spec } = pool.spec;
  const next = { ...pool, spec: { ...spec, ...writtenKeep(settled) } };
  pinned.set(pool, next);
  return next;
}

/** So that the pool of one commit is one value from pass to pass. */
const pinned = new WeakMap<ValidPool, ValidPool>();

/** Whether a node of the pool was told a payload with these fields kept, and runs it; of computed values, any of the pool's. */
function isShown(pool: string, { keepFields = [] }: ConfigIdentity, { kubeletNodes }: Fleet): boolean {
  return [...kubeletNodes.values()].some(({ spec, status }) => {
    const [source, active] = [spec?.configSource, status?.active];
    if (spec?.pool !== pool || spec.apply !== 'replace' || active?.sha256 === undefined) return false;
    const kept = targetWith(source?.sha256 ?? '', { apply: 'replace', keepFields });
    return [{ ...spec, ...source }, active].every((each) => sameIdentity(identityIn({ sha256: '', ...each }), kept));
  });
}
