import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { KUBELET, load, pool } from '../../reconciler/policy/config-repo/support/load.ts';
import { sizedNode } from '../rollout/sized-pool.ts';

/** A kind of machine: its size (small, large) and its tier (a, b), which is a label that people change. */
export type Kind = 0 | 1 | 2 | 3;
export const KINDS: readonly Kind[] = [0, 1, 2, 3];
export const TIER = 'example.com/tier';
const LARGE_FROM_GIB = 32;

/** What a version of a pool gives each kind of machine, as a number that stands for the bytes: by it the world says who dies. */
export type Table = readonly [number, number, number, number];

/** One version of a pool, as a commit has it. */
export interface Version {
  readonly pool: ValidPool;
  /** Tells the payloads of one version from those of another. */
  readonly id: string;
  readonly rollout: RolloutSpec;
  /** Whether it has a class for each kind of machine; all nodes are of one where not. */
  readonly isComputed: boolean;
  /** SHA-256 of what it gives this kind, and the number that stands for it. */
  readonly bytes: readonly string[];
  readonly values: Table;
  /** By the name of a class in a status, its kind. */
  readonly kindOfName: ReadonlyMap<string, Kind>;
}

/** A machine of this kind in a pool (none: `nobody`). */
export function machine(name: string, kind: Kind, inPool: string, view: Partial<NodeView> = {}): NodeView {
  const labels = { pool: inPool, [TIER]: tierOf(kind) };
  return sizedNode(name, 4, kind % 2 === 0 ? LARGE_FROM_GIB / 2 : LARGE_FROM_GIB * 2, { labels, ...view });
}

export const tierOf = (kind: Kind): string => (kind < 2 ? 'a' : 'b');

/** Its kind by its Node alone. */
export function kindOf({ labels, size }: NodeView): Kind {
  const isLarge = Number.parseInt(size?.capacity['memory'] ?? '0', 10) >= LARGE_FROM_GIB * 1024 * 1024;
  return ((isLarge ? 1 : 0) + (labels[TIER] === 'b' ? 2 : 0)) as Kind;
}

const made = new Map<string, ValidPool>();

/** Pools of one table are read once; how they roll out differs from world to world. */
export function versionOf(name: string, table: Table, isComputed: boolean, rollout: RolloutSpec): Version {
  const key = `${name} ${isComputed} ${table.join()}`;
  const read = made.get(key) ?? poolOf(name, table, isComputed);
  made.set(key, read);
  const found: ValidPool = { ...read, spec: { ...read.spec, rollout } };
  const values: Table = isComputed ? table : [table[0], table[0], table[0], table[0]];
  const classes = KINDS.map((kind) => poolOfNode(found, machine('any', kind, name)).class);
  const bytes = classes.map((each) => {
    if (each.pool === undefined) throw new Error(each.because);
    return each.pool.sha256;
  });
  const kindOfName = new Map(classes.map((each, kind) => [each.class.name, kind as Kind]));
  return { pool: found, id: found.sha256, rollout, isComputed, bytes, values, kindOfName };
}

function poolOf(name: string, [a, b, c, d]: Table, isComputed: boolean): ValidPool {
  const sized = (small: number, large: number): string =>
    `(memory < quantity("${LARGE_FROM_GIB}Gi") ? quantity("${small}Gi") : quantity("${large}Gi"))`;
  const computed = `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\ncomputed: {systemReserved: {memory: 'labels["${TIER}"] == "b" ? ${sized(c, d)} : ${sized(a, b)}'}}\n`;
  // No two pools have the same bytes.
  const plain = `${KUBELET}podPidsLimit: ${1_000 + name.charCodeAt(0)}\n${isComputed ? '' : `maxPods: ${100 + a}\n`}`;
  const tree = {
    [`pools/${name}/pool.yaml`]: `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: ${name}}}\n  layers: [plain.yaml${isComputed ? ', computed.yaml' : ''}]\n  trial: {duration: 1m}\n`,
    [`pools/${name}/plain.yaml`]: plain,
    ...(isComputed ? { [`pools/${name}/computed.yaml`]: computed } : {}),
  };
  const found = pool(load(tree), name);
  if (found.status !== 'valid') throw new Error(found.findings.map(formatFinding).join());
  return found;
}
