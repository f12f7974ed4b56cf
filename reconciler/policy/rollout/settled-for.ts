import type { SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import type { DesiredPool } from '../desired.ts';
import type { Member } from './membership.ts';
import type { NodeTarget } from './standing.ts';

/** What a pool settled on before, as one node of it has to run that. */
export interface SettledFor {
  readonly configName: string;
  readonly target: NonNullable<NodeTarget>;
}

/**
 * null where the pool settled on nothing, or on nothing for such a machine. A node whose class has another name under the present
 * template is known by what it has proved.
 */
export function settledFor(
  settled: SettledConfig | null | undefined,
  pool: DesiredPool | null,
  { node, kubeletNode }: Pick<Member, 'node' | 'kubeletNode'>,
): SettledFor | null {
  if (settled === null || settled === undefined) return null;
  const { classes, apply, configName, sha256 } = settled;
  if (classes === undefined) return { configName, target: { sha256, apply } };
  const name = pool?.classes?.byNode.get(node.name)?.name;
  const proved = kubeletNode?.status?.lastKnownGood?.sha256;
  const found = classes.find((each) => each.name === name) ?? classes.find((each) => each.sha256 === proved);
  return found === undefined ? null : { configName: found.configName, target: { sha256: found.sha256, apply } };
}
