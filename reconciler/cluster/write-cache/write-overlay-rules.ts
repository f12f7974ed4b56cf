import { isDeepStrictEqual } from 'node:util';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { NodeView } from '../../policy/fleet.ts';
import { viewKubeletNode, viewKubeletPool, viewNode } from '../object-views.ts';
import type { WriteOverlayRules } from './write-overlay.ts';

/**
 * A KubeletNode's generation grows with every write to its spec, so that an older one is known as such however long the
 * watch lags. One that was just created is not shown yet; one that is not shown for a minute was deleted again.
 */
export const WRITTEN_NODES: WriteOverlayRules<KubeletNode> = {
  view: viewKubeletNode,
  uidOf: ({ metadata }) => metadata.uid,
  hasCaughtUp: (seen, written) => generationOf(seen) >= generationOf(written),
  believedMs: Infinity,
  believedUnseenMs: 60_000,
  merge: (_, written) => written,
};

/**
 * The status of a KubeletPool is what the reconciler remembers, and from an old one it would write another hour at which a
 * wave was done, and a note that says so. No number tells an older status from a newer one: a watch that went past our write
 * before we looked would never be believed again, were it not for the bound. A pool that is not shown was deleted.
 */
export const WRITTEN_POOLS: WriteOverlayRules<KubeletPool> = {
  view: viewKubeletPool,
  uidOf: ({ metadata }) => metadata.uid,
  hasCaughtUp: (seen, written) =>
    generationOf(seen) >= generationOf(written) && isDeepStrictEqual(seen.status, written.status),
  believedMs: 60_000,
  believedUnseenMs: null,
  merge: (_, written) => written,
};

/**
 * A Node has no generation, and people and other programs write it as well: only our marks are laid over it, and not for
 * long, because anybody may have taken them back since.
 */
export const WRITTEN_MARKS: WriteOverlayRules<NodeView> = {
  view: viewNode,
  uidOf: ({ uid }) => uid,
  hasCaughtUp: (seen, written) => isDeepStrictEqual(marksOf(seen), marksOf(written)),
  believedMs: 10_000,
  believedUnseenMs: null,
  merge(seen, written) {
    const { cordoned: _, drain: __, drainFailed: ___, gated: ____, ...rest } = seen;
    return { ...rest, ...marksOf(written) };
  },
};

const generationOf = ({ metadata }: KubeletNode | KubeletPool): number => metadata.generation ?? 0;

function marksOf({
  cordoned,
  drain,
  drainFailed,
  gated,
}: NodeView): Pick<NodeView, 'cordoned' | 'drain' | 'drainFailed' | 'gated'> {
  return {
    cordoned,
    ...(drain === undefined ? {} : { drain }),
    ...(drainFailed === undefined ? {} : { drainFailed }),
    ...(gated === undefined ? {} : { gated }),
  };
}
