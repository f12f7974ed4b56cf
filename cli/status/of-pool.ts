import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { Mistake } from '../command.ts';
import type { StatusView } from './render.ts';

/**
 * The commit, and one pool with the nodes that it has.
 *
 * @param name undefined for everything
 * @throws Mistake where the cluster does not have the pool
 */
export function ofPool(view: StatusView, name: string | undefined): StatusView {
  if (name === undefined) return view;
  const pools = view.pools.filter(({ metadata }) => metadata.name === name);
  if (pools.length === 0) {
    const names = view.pools.map(({ metadata }) => metadata.name);
    const meant = didYouMean(name, names);
    throw new Mistake(
      `the cluster has no pool ${name}${meant === undefined ? `; it has ${names.join(', ') || 'none'}` : ` (did you mean ${meant}?)`}`,
    );
  }
  return { ...view, pools, nodes: view.nodes.filter(({ spec }) => spec?.pool === name) };
}
