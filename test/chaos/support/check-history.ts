import { isDeepStrictEqual } from 'node:util';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import type { Version } from './etcd-history.ts';

/** What a history of KubeletNodes amounts to. */
export interface HistoryCheck {
  /** Writes of a spec, first ones included. */
  readonly specWrites: number;
  readonly statusWrites: number;
  /** Nodes that were told a config, by config: how often each. */
  readonly assignments: ReadonlyMap<string, number>;
  /** Starts of a trial, by `<node> <config>`. */
  readonly trials: ReadonlyMap<string, number>;
  /** Most nodes of a pool that were in a change at the same revision. */
  readonly mostAtOnce: number;
  /** What must not be; empty where all is well. */
  readonly wrongs: readonly string[];
}

/**
 * Goes through all writes in their order: no node may be told a config twice, no kubelet be started twice for one, no spec be
 * written without an assignment, no object deleted, and no pool may ever have more nodes in a change than it allows.
 *
 * @param allowed nodes of one pool
 */
export function checkHistory(versions: readonly Version<KubeletNode>[], allowed: number): HistoryCheck {
  const present = new Map<string, KubeletNode>();
  const assignments = new Map<string, number>();
  const told = new Map<string, number>();
  const trials = new Map<string, number>();
  const busy = new Map<string, Set<string>>();
  const wrongs: string[] = [];
  let [specWrites, statusWrites, mostAtOnce] = [0, 0, 0];

  for (const { name, object, revision } of versions) {
    const at = `${name} at revision ${revision}`;
    const before = present.get(name);
    if (object === null) {
      wrongs.push(`${at} was deleted`);
      continue;
    }
    present.set(name, object);
    if (before !== undefined && !isDeepStrictEqual(before.spec, object.spec)) {
      specWrites += 1;
      if (configOf(before) === configOf(object)) wrongs.push(`the spec of ${at} was written for nothing`);
      else {
        add(assignments, configOf(object));
        if (add(told, `${name} ${configOf(object)}`) > 1) wrongs.push(`${at} was told ${configOf(object)} again`);
      }
    }
    if (before !== undefined && !isDeepStrictEqual(before.status, object.status)) statusWrites += 1;
    if (startsTrial(before, object)) {
      const config = object.status?.active?.name ?? LOCAL;
      if (add(trials, `${name} ${config}`) > 1) wrongs.push(`the kubelet of ${at} was started again with ${config}`);
    }
    const most = inChange(busy, object);
    mostAtOnce = Math.max(mostAtOnce, most);
    if (most > allowed) wrongs.push(`${most} nodes of ${object.spec?.pool} are in a change, ${allowed} may be: ${at}`);
  }
  return { specWrites, statusWrites, assignments, trials, mostAtOnce, wrongs };
}

const configOf = ({ spec }: KubeletNode): string => spec?.configSource?.name ?? LOCAL;

const startsTrial = (before: KubeletNode | undefined, { status }: KubeletNode): boolean =>
  status?.phase === 'Trial' &&
  (before?.status?.phase !== 'Trial' || before.status.active?.name !== status.active?.name);

function add(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** @returns how many nodes of this one's pool are in a change now */
function inChange(busy: Map<string, Set<string>>, node: KubeletNode): number {
  const pool = node.spec?.pool;
  if (pool === undefined) return 0;
  const nodes = busy.get(pool) ?? new Set();
  busy.set(pool, nodes);
  const { status, metadata } = node;
  const proved = configOf(node) === status?.lastKnownGood?.name && status.phase === 'Idle';
  if (proved) nodes.delete(metadata.name);
  else nodes.add(metadata.name);
  return nodes.size;
}
