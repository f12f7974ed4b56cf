import { CLASS_LABELS_ANNOTATION, MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { labelsAsked, writeClassLabels } from './class-labels.ts';
import type { Desired, DesiredPool } from './desired.ts';
import type { Fleet } from './fleet.ts';
import type { Step } from './steps.ts';
import { kubeletNodeOf } from './kubelet-node-of.ts';
import { targetFor } from './rollout/membership.ts';
import { assignmentOf, sameTarget } from './rollout/node-progress.ts';

/**
 * Keeps what nodes of pools with computed values were sorted by: sizes, so that each stays in its class, and the labels with which it was
 * told its config, so that others are known to be others after a restart as well.
 */
export function rememberClasses({ pools }: Desired, fleet: Fleet): readonly Step[] {
  return [...pools.values()].flatMap((pool) => {
    const { classes } = pool;
    if (classes === undefined) return [];
    const names = labelsAsked(pool);
    // Of sizes only those are at hand that are not kept yet: thousands are.
    const nodes = names.length === 0 ? classes.sizes.keys() : classes.byNode.keys();
    return [...nodes].flatMap((name): readonly Step[] => {
      const present = fleet.kubeletNodes.get(name);
      if (present === undefined) return [];
      const sizes = classes.sizes.get(name);
      const known = present.metadata.annotations ?? {};
      const labels = names.length === 0 ? undefined : labelsToKeep(name, names, pool, fleet);
      const annotations = {
        ...(sizes === undefined ? {} : { [MACHINE_ANNOTATION]: sizes }),
        ...(labels === undefined || labels === known[CLASS_LABELS_ANNOTATION]
          ? {}
          : { [CLASS_LABELS_ANNOTATION]: labels }),
      };
      return Object.keys(annotations).length === 0 ? [] : [{ step: 'remember', node: name, present, annotations }];
    });
  });
}

/** Undefined where nothing new is to be kept: a node that was told a config keeps the labels of that until it is told another one. */
function labelsToKeep(name: string, names: readonly string[], pool: DesiredPool, fleet: Fleet): string | undefined {
  const node = fleet.nodes.get(name);
  const present = node && kubeletNodeOf(node, fleet);
  // Another pool's config, or none, was told with other labels.
  if (node === undefined || present?.spec?.configSource === undefined || present.spec.pool !== pool.name)
    return undefined;
  const isNew = present.metadata.annotations?.[CLASS_LABELS_ANNOTATION] === undefined;
  const isTold = sameTarget(assignmentOf(present), targetFor(pool, name));
  return isNew || isTold ? writeClassLabels(names, node.labels) : undefined;
}
