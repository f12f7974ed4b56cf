import type { SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import type { DesiredPool } from '../desired.ts';
import type { Member } from './membership.ts';
import type { NodeTarget } from './node-progress.ts';

/** What a pool settled on before, as one node of it has to run that. */
export interface SettledNodeConfig {
  readonly configName: string;
  readonly target: NonNullable<NodeTarget>;
}

/**
 * What a pool settled on before, node by node; null where that is nothing, or nothing for such a machine. A node whose class has
 * another name under the present template is known by what it has proven.
 */
export function settledConfigFor(
  settled: SettledConfig | null | undefined,
  pool: DesiredPool | null,
): (member: Pick<Member, 'node' | 'kubeletNode'>) => SettledNodeConfig | null {
  if (settled === null || settled === undefined) return () => null;
  const { classes, apply, configName, sha256 } = settled;
  if (classes === undefined) {
    const same = { configName, target: { sha256, apply } };
    return () => same;
  }
  const each = classes.map((known) => ({ ...known, target: { sha256: known.sha256, apply } }));
  const byName = new Map(each.map((known) => [known.name, known]));
  const bySha = new Map(each.map((known) => [known.sha256, known]));
  return ({ node, kubeletNode }) => {
    const name = pool?.classes?.byNode.get(node.name)?.name ?? '';
    return byName.get(name) ?? bySha.get(kubeletNode?.status?.lastKnownGood?.sha256 ?? '') ?? null;
  };
}
