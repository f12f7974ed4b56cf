import assert from 'node:assert/strict';
import { classifyNodes } from '#reconciler/policy/payload-classes.ts';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { type Group, memberOf, targetFor } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import type { ClassStatus, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { desiredPool, fleetOf, NOW, recordOf } from '../fleet.ts';
import { sizedNode, sizedPool } from './sized-pool.ts';

export const AT = toTimestamp(NOW);
let made: ValidPool | undefined;
/** Gives large machines a config, and small ones none. It is made by the test that asks for it first: mutants do not meet what loading makes. */
export const computedPool = (): ValidPool =>
  (made ??= sizedPool('computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}\n', '{maxUnavailable: 2}'));
/** Has none. */
export const SMALL = sizedNode('small', 2, 7.7);
/** Two classes that have a config. */
export const [LARGE, HUGE] = [sizedNode('large', 16, 62.3), sizedNode('huge', 64, 256)];

/** What the pool gives a node that it has a config for. */
export function given(node: NodeView): ValidPool {
  const found = poolOfNode(computedPool(), node).class.pool;
  assert.ok(found !== undefined);
  return found;
}

/** Name of the class of a node. */
export const nameOf = (node: NodeView): string => poolOfNode(computedPool(), node).class.class.name;
/** The class of a node as a status has it, or under another name. */
export const classOf = (node: NodeView, name = nameOf(node)): ClassStatus & { sha256: string; configName: string } => {
  const { sha256, configName } = given(node);
  return { name, nodes: 1, sha256, configName };
};

/** A node as it is, and how it reports. */
export interface Row {
  readonly view: NodeView;
  readonly is: KubeletNode | undefined;
  /** It leaves the pool. */
  readonly leaves?: true;
}

/** The pool for these nodes. */
export function poolFor(nodes: readonly NodeView[]): DesiredPool {
  const { classes } = classifyNodes(computedPool(), nodes, fleetOf({ nodes }), () => []);
  return { ...desiredPool(computedPool()), inGit: computedPool(), classes };
}

/**
 * The pool with these nodes, each as it stands.
 *
 * @param status as the leader that decides wrote it
 */
export function groupOf(rows: readonly Row[], status?: KubeletPoolStatus): Group {
  const pool = poolFor(rows.filter(({ leaves }) => leaves !== true).map(({ view }) => view));
  const members = rows.map(({ view, is, leaves }) =>
    leaves === true
      ? memberOf(view, is, null, 0, NOW)
      : memberOf(view, is, targetFor(pool, view.name), 0, NOW, pool.classes?.byNode.get(view.name)),
  );
  const group = { pool, members };
  return { ...group, proof: poolProof(group, { status, isOwn: true }, NOW) };
}

/** The status of the pool where these classes have proven what it gives them. */
export const provenBy = (
  ...classes: readonly (ClassStatus & { sha256: string; configName: string })[]
): KubeletPoolStatus => ({
  settled: { configName: computedPool().configName, sha256: computedPool().sha256, apply: 'overlay', at: AT },
  proof: writeProof(classes.map(({ name, sha256 }) => recordOf(name, sha256))),
});

/** Name of the ConfigMap of what the pool gives either class. */
export const sourceNameOf = ({ sha256 }: { readonly sha256: string }): string =>
  [given(LARGE), given(HUGE)].find((pool) => pool.sha256 === sha256)?.configName ?? '';
