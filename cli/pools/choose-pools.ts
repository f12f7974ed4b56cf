import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { type Kube, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS } from '../options.ts';

/** Pools are of the whole cluster: no namespace. */
const { kubeconfig, context } = CLUSTER_OPTIONS;
export const POOL_OPTIONS = { kubeconfig, context } as const;

export const ALL_OPTION = { all: { type: 'boolean', about: 'every pool that the cluster has now' } } as const;

/** More than anybody types. */
export const MOST_POOLS = 1_000;

/** What was asked makes sense before the cluster is. @throws Mistake */
export function checkChoice(given: Given, allowsAll: boolean): void {
  const all = allowsAll && given.flag('all');
  if (all && given.words.length > 0) throw new UsageError('name pools, or say --all');
  if (!all && given.words.length === 0) throw new UsageError(`name a pool${allowsAll ? ', or say --all' : ''}`);
}

/** The pools that were named, in that order, or all of them by name. @throws Mistake for one that the cluster does not have */
export async function choosePools(given: Given, kube: Kube, err: Io['err']): Promise<readonly KubeletPool[]> {
  const { items } = await kube.list<KubeletPool>({ resource: KUBELET_POOLS });
  const byName = new Map(items.map((pool) => [pool.metadata.name, pool]));
  const names = given.words.length > 0 ? [...new Set(given.words)] : [...byName.keys()].sort();
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0) {
    const meant = didYouMean(unknown[0] ?? '', byName.keys());
    const hint =
      meant === undefined ? `it has ${[...byName.keys()].sort().join(', ') || 'none'}` : `did you mean ${meant}?`;
    throw new UsageError(`the cluster has no pool ${unknown.join(', ')}: ${hint}`);
  }
  // Another cluster may be meant.
  if (names.length === 0) err.write('the cluster has no pools\n');
  return names.flatMap((name) => byName.get(name) ?? []);
}
